"""The studio: one page in the browser to see and steer a release. Its server calls the workflow and nothing else."""

"""What a classifier keeps."""

import pytest

from noise.private import PrivateProject
from project import Project


@pytest.fixture
def private(project: Project) -> PrivateProject:
    return PrivateProject(project)

"""First drafts for a person to correct: a spec from a table, and a taxonomy from the values of a column."""

from unveil.drafts.guesses import TableGuess, guess_table
from unveil.drafts.specs import Look, Profile, look_at, spec_text
from unveil.drafts.ways import WAYS, Draft, draft

"""What intake says about a submission: one verdict, what was repaired, and what a person should look at."""

from dataclasses import dataclass
from enum import StrEnum

from nbformat import NotebookNode

SHOWN = 4  # names in one remark


class Verdict(StrEnum):
    """How a submission ends; every one ends in exactly one of these."""

    GRADED = "graded"
    REMARKS = "graded with remarks"
    NOT_GRADABLE = "not gradable"


class NotGradable(Exception):
    """Nothing can be graded: ``reason`` says why and ``ask`` what to ask the student for."""

    def __init__(self, reason, ask):
        super().__init__(f"{reason} {ask}")
        self.reason = reason
        self.ask = ask


@dataclass(frozen=True)
class Remark:
    """One thing that was found: its kind, a sentence, and the grade id of the cell that it is about, if any."""

    kind: str
    text: str
    cell: str = ""

    @property
    def told(self):
        """The sentence, behind the name of the cell that it is about."""
        return f"{self.cell}: {self.text}" if self.cell else self.text


@dataclass(frozen=True)
class Intake:
    """The outcome for one notebook of one submission.

    ``repairs`` are what programs do to a file (encodings, versions, metadata); they never change the verdict.
    ``remarks`` are what an instructor may want to see. ``notebook`` is None where nothing can be graded.
    """

    verdict: Verdict
    notebook: NotebookNode | None = None
    file: str = ""
    remarks: tuple[Remark, ...] = ()
    repairs: tuple[Remark, ...] = ()
    reason: str = ""
    ask: str = ""

    def as_dict(self):
        """All but the notebook, ready for JSON."""
        return {
            "verdict": str(self.verdict),
            "file": self.file,
            "reason": self.reason,
            "ask": self.ask,
            "remarks": [vars(remark) for remark in self.remarks],
            "repairs": [vars(repair) for repair in self.repairs],
        }

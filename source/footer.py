# ---
# jupyter:
#   jupytext:
#     cell_markers: '"""'
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,jupytext,-jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
r"""
## Before you hand in

Save the notebook, then run the last cell. It looks for exercises without an answer, for test cells that went missing, and for visible checks that
fail. The hidden tests look at more than it does: other sizes, extreme values, arguments left unchanged.
"""

# %%
from course import handin

handin.check(globals(), lesson="@LESSON@", graded="@GRADED@")

"""What an exception inside a student's code says, in one sentence, and what to look at."""

SHAPES_DO_NOT_FIT = (
    "mismatch",
    "not aligned",
    "broadcast",
    "shapes cannot be multiplied",
    "must match",
    "Expected size",
)


def sentence(error):
    """Type and first line of an exception, short enough for one line."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:110]}" if text else type(error).__name__


def hint_for(error):
    """What to look at for a kind of exception."""
    if isinstance(error, NameError):
        return "A name is used before it exists: check its spelling, and run the cells above."
    if any(words in str(error) for words in SHAPES_DO_NOT_FIT):
        return "Two shapes do not fit: print both before that line, and see which axes must meet; a transpose, perhaps."
    if "view size is not compatible" in str(error):
        return "A tensor whose axes were swapped cannot be viewed: use reshape, which copies where it has to."
    if "ambiguous" in str(error):
        return "An array of many values is neither true nor false: compare with None, as in if mask is not None."
    if isinstance(error, TypeError):
        return "A call or an operation got an argument it cannot take: compare the signature with the docstring."
    if isinstance(error, SystemExit):
        return "Take out exit() or quit(): a function ends with return."
    if "Module.__init__()" in str(error):
        return "Call super().__init__() first in __init__, before any layer is assigned to self."
    if "same dtype" in str(error):
        return "Tensors of two precisions meet: make new ones in the dtype of the input, and convert none on the way."
    if "inplace operation" in str(error) or "in-place operation" in str(error):
        return "A value that the gradient needs was overwritten: write x = x * 2, a new tensor, instead of x *= 2."
    if isinstance(error, RecursionError):
        return "The function calls itself without end: check the name that it calls."
    return "Call the function yourself on a small input and print the shapes along the way."

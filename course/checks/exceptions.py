"""What an exception inside a student's code says, in one sentence, and what to look at."""

import re
import sys
from difflib import get_close_matches
from inspect import signature
from traceback import walk_tb

from numpy import ndarray
from torch import Tensor, nn

from course.checks.compare import kind_of
from course.wording import words_of

LONGEST_TEXT = 110  # characters of an exception's text in a sentence
SHAPES_DO_NOT_FIT = (
    "mismatch",
    "not aligned",
    "broadcast",
    "shapes cannot be multiplied",
    "must match",
    "Expected size",
)
NOT_PAIRED = ("be broadcast together", "must match the size of tensor b")  # *, + and their like, entry by entry
ENTRY_BY_ENTRY = ", @ rather than *, or keepdim=True in a sum."
SEVERAL = "Here is a tuple of results: take them apart, as in out, weights = ... or fig, ax = ..."
WHOLE = "Sizes and indices are whole numbers: divide them by //, because / makes a float."
RESHAPED = (
    "The sizes must multiply to the number of entries: take them from x.shape and from the arguments, and fix none."
)
ARGUMENTS = (
    "The call and the def line differ in the number of arguments: keep the def as it was given; self comes first in a "
    "method, and __init__ has two underscores on each side."
)
ONE_NUMBER = "One number is wanted here, not an array of many: np.sin takes whole arrays, math.sin does not."
SWAPPED = (
    "In torch, transpose and swapaxes exchange two axes, as transpose(1, 2); permute(0, 2, 1, 3) orders all of them."
)
ONE_ROW = "np.average knows one row of weights: np.average(values, axis=0, weights=row), once for each row."
SEVERAL_TENSORS = "torch.cat and torch.stack take a list of tensors: [x[:, i] for i in range(n)], or x.unbind(1)."
NO_TENSOR = "True, False or None stands where a tensor is wanted: is mask None here? Ask first: if mask is not None."
ROUNDED_DOWN = "No gradient passes //, which cuts the fractions off: divide with /."
OF_TENSORS = (
    "torch.stack and torch.cat join tensors: leave out item() and float(), or make one with torch.tensor(list)."
)
LAST = "Call the function yourself on a small input and print the shapes along the way."
FRACTIONS = "Whole numbers hold neither fractions nor -inf: start from floats, as 2.0 ** ... and torch.arange(3.0) do."
NO_FORWARD = "Is forward misspelt? A list of layers has none: call its layers one by one."
EMBEDDED = "An nn.Embedding takes whole numbers, in a tensor: the positions, torch.arange(T) without a float dtype."
IMAGE = "Hand the colour bar its image: image = ax.imshow(...), then fig.colorbar(image, ax=ax)."
THREE_TIMES = "In self-attention x is query, key and value: hand it over three times."
OVERWRITTEN = (
    "A text stands where a function was: plt.title = ..., say, instead of plt.title(...). Write the brackets, and "
    "restart the kernel, which still has the text."
)
BY_TEXT = {
    "transpose() takes": SWAPPED,
    "transpose(): argument": SWAPPED,
    "transpose() missing": SWAPPED,
    "swapaxes() takes": SWAPPED,
    "torch.return_types": "max and min along an axis give a pair: take .values of it, or call amax and amin.",
    "builtin_function_or_method": "A method is named and not called: its brackets are missing, as in x.size().",
    "'torch.Size' object is not callable": "x.shape is written without brackets; x.size() has them.",
    "softmax() missing": "A softmax wants its axis: dim=-1 is the last one.",
    "weights must be consistent": ONE_ROW,
    "shapes of a and weights differ": ONE_ROW,
    "tuple of Tensors, not": SEVERAL_TENSORS,
    "got (bool, ": NO_TENSOR,
    "got (NoneType, ": NO_TENSOR,
    "floor_divide is not": ROUNDED_DOWN,
    "expected Tensor as element": OF_TENSORS,
    "non-empty TensorList": "The list that is to be stacked is empty here: what should come out then?",
    "but got float": WHOLE,
    "int, not float": WHOLE,
    "ints, not float": WHOLE,
    "'float' object cannot be interpreted as an integer": WHOLE,
    "slice indices must be integers": WHOLE,
    "values to unpack": "The names left of = and the values right of it differ in number: print those values.",
    "is invalid for input of size": RESHAPED,
    "cannot reshape array of size": RESHAPED,
    "too many indices": "More indices stand in the brackets than the value has axes: print its shape.",
    "inhomogeneous": "The rows that become one array differ in length: print them, and start each call with no rows.",
    "non-iterable Axes": "plt.subplot gives axes alone: plt.subplots(), with an s, gives the pair fig, ax.",
    "'int' object is not iterable": "A number is no list: range(n) counts from 0 to n - 1.",
    "cannot unpack": "The right of = is one thing and no list of several: print it.",
    "for ^:": "A power is written a ** b: ^ is another operator.",
    "argument 'indices'": EMBEDDED,
    "argument #1 'indices'": EMBEDDED,
    "must be Tensor, not": "The functions of torch take tensors; np and math have the same ones for numbers.",
    "as a data type": "The shape is one argument, with brackets of its own: np.zeros((rows, columns)).",
    "has no attribute 'cmap'": IMAGE,
    "has no attribute 'colorbar'": "A colour bar is the figure's: fig.colorbar(image, ax=ax), or plt.colorbar(image).",
    "'tuple' object has no attribute": SEVERAL,
    "0-dimensional arrays can be converted": ONE_NUMBER,
    "length-1 arrays can be converted": ONE_NUMBER,
    "converted to Scalar": "item() and float() want a tensor of one number: reduce it first, as mean() does.",
    "only one element tensors": "One number is wanted here, not a tensor of many: math.cos and math.log2 take "
    "numbers, torch.cos and torch.log2 whole tensors; a width is q.shape[-1].",
    "index out of range in self": "An nn.Embedding has no such row: make it with the number of rows first, and hand "
    "it the positions, torch.arange(T).",
    "leaf Variable": "Write a new tensor, x = x * 2 rather than x *= 2; into a parameter only under torch.no_grad().",
    "as child module": "This is a layer, and not its numbers: they are in its .weight and .bias.",
    "as parameter '": "A parameter is written to by its copy_ under torch.no_grad(), or replaced by an nn.Parameter.",
    "in loading state_dict": "It wants all of the layer's own names: compare yours with list(layer.state_dict()).",
    "'tuple' and": SEVERAL,
    "stack expects each tensor": "The pieces to stack differ in size: print their shapes. Does a slice run past "
    "the end, or is another axis to be cut?",
    "zero-dimensional tensor": "torch.cat wants axes: single numbers are put together by torch.stack.",
    "tensor a (0)": "A slice is empty: [:-k] holds nothing when k is 0; write [: n - k].",
    "is out of bounds for": "An index is beyond the end of its axis, the size minus 1; or is another axis meant?",
    "Dimension out of range": "There is no such axis: -1 and -2 are the last two, whatever stands before them.",
    "heads, 0 to": "Heads count from 0: range(layer.num_heads) has them all.",
    "without overflow": FRACTIONS,
    "to negative integer powers": FRACTIONS,
    "division by zero": "A divisor is 0 for these sizes: print it, and hold it against the formula.",
    "'key' and 'value'": THREE_TIMES,
    "MultiheadAttention.forward() missing": THREE_TIMES,
    "'mappable'": IMAGE,
    "embed_dim must be divisible by num_heads": "nn.MultiheadAttention gets embed_dim first, then num_heads.",
    'the required "forward" function': NO_FORWARD,
    "_forward_unimplemented": NO_FORWARD,
    "required positional argument": "The call leaves out an argument that the def line asks for: keep the def as it "
    "was given, with its defaults, and hand over all that a function needs.",
    "positional argument": ARGUMENTS,
    "should return None": "__init__ fills self and gives nothing back: take out its return.",
    "'super' object has no attribute": "The call is super().__init__(), with two underscores on each side of init.",
    "context manager protocol": "with needs what a call gives: with torch.no_grad():, brackets included.",
    "unary ~: 'NoneType'": "There is no mask to turn round when mask is None: do that under if mask is not None.",
    "'Text' object is not callable": "ax.title is the text itself: ax.set_title(...) sets it.",
    "'str' object is not callable": OVERWRITTEN,
    "invalid combination of arguments": "That function does not take arguments of these types: compare them with its "
    "help(...); numbers stand without quotes.",
    "permute(sparse_coo)": "permute names every axis once, in their new order: to reorder the entries of one axis, "
    "index it.",
    "exceptions must derive": "raise wants an exception, not a text: raise ValueError(...).",
    "argument 'average_attn_weights'": "average_attn_weights is for the layer's call, beside x, not for __init__.",
    "argument 'batch_first'": "batch_first is for nn.MultiheadAttention(...) in __init__, not for its call.",
    "unexpected keyword argument": "That call knows no argument of this name: look at help(...) of what is called.",
    "No mappable was found": IMAGE,
    "Can't call numpy() on Tensor": "Stay in torch with what asks for a gradient: NumPy cannot follow it.",
}


def sentence(error):
    """Type and first line of an exception, short enough for one line."""
    text = words_of(error).strip().splitlines()
    if not text:
        return type(error).__name__
    line = re.sub(r", with gufunc signature \S+", "", text[0])  # it says what NumPy expects, in NumPy's own notation
    return f"{type(error).__name__}: {line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + '…'}"


def in_brackets(arguments):
    """One or two arguments as they stand in a call, a tensor or an array by its shape; '' for any others."""
    shapes = tuple(getattr(value, "shape", None) for value in arguments)
    plain = all(type(value) is int or shape is not None for value, shape in zip(arguments, shapes, strict=True))
    if not plain or not 0 < len(arguments) <= 2:
        return ""
    texts = (
        str(value) if shape is None else f"{'tensor' if isinstance(value, Tensor) else 'array'} {tuple(shape)}"
        for value, shape in zip(arguments, shapes, strict=True)
    )
    return f"({', '.join(texts)})"


def message_in(seen):
    """What was seen without the line of code that is quoted in it: its names are the student's own."""
    return re.sub(r" \(line \d+ of the cell.*", "", seen)


def hint_for(error):
    """What to look at for a kind of exception."""
    said = words_of(error)
    for words, hint in BY_TEXT.items():
        if words in said:
            return hint
    if isinstance(error, AttributeError) and (instead := _instead_of(error)):
        return instead
    if isinstance(error, ImportError):
        return "That package is not here: NumPy, matplotlib and torch are enough."
    if isinstance(error, AssertionError):
        return "An assert refuses this: print the values that it compares in the line before it."
    if isinstance(error, NameError):
        if error.name in sys.stdlib_module_names:
            return f"Write import {error.name} at the top of the cell."
        if error.name == "F":
            return "Write import torch.nn.functional as F at the top of the cell."
        if within := _within_method(error):
            return within
        if isinstance(error, UnboundLocalError):
            return "That name gets its value in a branch or a loop that did not run: give it one on every way here."
        return "A name is used before it exists: check its spelling, and run the cells above."
    if any(words in said for words in SHAPES_DO_NOT_FIT):
        hint = "Two shapes do not fit: print both before that line, and see which axes must meet; a transpose, perhaps"
        return f"{hint}{ENTRY_BY_ENTRY if any(words in said for words in NOT_PAIRED) else '.'}"
    if "view size is not compatible" in said:
        return "A tensor whose axes were swapped cannot be viewed: use reshape, which copies where it has to."
    if "ambiguous" in said:
        return (
            "An array of many values is neither true nor false: compare with None, as in if mask is not None, and turn "
            "a mask round with ~mask, not with not."
        )
    if "trying to invert a mask" in said:
        return "A boolean mask is turned round with ~mask."
    if "shape of the mask" in said:
        return "A mask used as an index needs the full shape: masked_fill and torch.where broadcast it by themselves."
    if "NoneType" in said:
        return "Something is None here: an argument that was left out, or the result of a function without return."
    if "is not subscriptable" in said:
        return "What stands before the brackets has no items: is it the value that you think? Print it."
    if "object is not callable" in said:
        return "Something that is no function is called: a * is missing before a bracket, or a name was given away."
    if isinstance(error, TypeError):
        return "A call or an operation got an argument it cannot take: compare the signature with the docstring."
    if isinstance(error, KeyError):
        return "The dict has no such key: print list(...) of it, and compare letter for letter."
    if isinstance(error, SystemExit):
        return "Take out exit() or quit(): a function ends with return."
    if isinstance(error, EOFError) or type(error).__name__ == "StdinNotImplementedError":
        return "Take out input(): the function gets what it needs as arguments."
    if "Module.__init__()" in said:
        return "Call super().__init__() first in __init__, before any layer is assigned to self."
    if "same dtype" in said or "expected scalar type" in said:
        return "Tensors of two precisions meet: make new ones in the dtype of the input, and convert none on the way."
    if "inplace operation" in said or "in-place operation" in said:
        return "A value that the gradient needs was overwritten: write x = x * 2, a new tensor, instead of x *= 2."
    if isinstance(error, RecursionError):
        return "The function calls itself without end: check the name that it calls."
    return LAST


def _within_method(error):
    """A hint for a name that is missing in a method, where self or __init__ has it; None for no idea."""
    frames = _frames(error)
    owner, name = frames[-1].f_locals.get("self") if frames else None, error.name
    if owner is None or name is None:
        return None
    if hasattr(owner, name):
        return f"Write self.{name}: inside a method, what __init__ has made is reached by self alone."
    if name in signature(type(owner).__init__).parameters:
        return f"__init__ gets {name}, and no other method knows it: keep it there, self.{name} = {name}."
    return None


def _instead_of(error):
    """A hint for an attribute that an object has not, by the names that it has; None for no idea."""
    owner, name = error.obj, error.name
    if owner is None or name is None:
        return None
    if _is_for_axes(name, owner):
        return f"{name} is a method of axes: fig, ax = plt.subplots() gives a figure and one axes, in that order."
    if hasattr(owner, f"set_{name}"):
        return f"The method is called set_{name}(...)."
    own = isinstance(owner, nn.Module)
    public = [known for known in dir(owner) if not known.startswith("_")]
    # In a layer of the student's, q_proj is not out_proj misspelt: only a slip of the pen counts.
    if close := get_close_matches(name, public, 1, cutoff=0.8 if own else 0.6):
        return f"There is no {name}: perhaps {close[0]} is meant."
    if own and any(frame.f_locals.get("self") is owner for frame in _frames(error) if not _is_lookup(frame)):
        return f"self.{name} is never made: __init__ must give it the name that forward uses."
    if own:
        parts = ", ".join(part for part, _ in owner.named_children())
        return f"The layer has no {name}: {f'its parts are {parts}' if parts else 'print it to see what it has'}."
    if isinstance(owner, Tensor | int | float | list):
        return f"There is no {name} in {kind_of(owner)}: is it the value that you think, or are two arguments swapped?"
    return None


def _is_for_axes(name, owner):
    """Whether axes have what a figure, or the array of axes that plt.subplots(1, 2) gives, has not."""
    axes = sys.modules.get("matplotlib.axes")  # most exercises draw nothing, and need not wait for it
    if axes is None or not hasattr(axes.Axes, name):
        return False
    several = isinstance(owner, ndarray) and owner.dtype == object
    return several or isinstance(owner, sys.modules["matplotlib.figure"].FigureBase)


def _frames(error):
    return [frame for frame, _ in walk_tb(error.__traceback__)]


def _is_lookup(frame):
    """Whether a frame is torch's own search for an attribute of a layer."""
    return frame.f_code.co_name == "__getattr__"

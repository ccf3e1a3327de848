"""Values as JSON text, for an exam whose two sides run in different processes.

Numbers, texts, tuples, lists, dicts, slices of bytes, tensors, arrays, dtypes and the course's own probe models cross;
anything else arrives as ``Opaque``, a word for its type. Nothing is pickled, so that reading what a
student's process sends runs no code of theirs.
"""

import base64
import builtins
import json

import numpy as np
import torch

from course.checks import probes

MOST_BYTES = 64 * 2**20  # of one array; an exam's own are a few kilobytes
WIDEST_PROBE = 1024  # features; a probe is made anew from what arrives, and its weights grow with the square
_to_json, _from_json = json.dumps, json.loads  # bound here: a student's code may put others in their place
_PLAIN = (bool, int, float, str)


class Opaque:
    """A value that cannot cross: only the name of its type is known."""

    def __init__(self, type_name):
        self.type_name = type_name

    def __repr__(self):
        return f"<{self.type_name}>"


class WireError(ValueError):
    """Text that is not what ``dumps`` writes."""


def dumps(value):
    """JSON text of a value."""
    return _to_json(_encode(value))


def loads(text):
    """The value that ``dumps`` wrote. WireError for anything else."""
    try:
        return _decode(_from_json(text))
    except Exception as error:  # the sender may be anybody, and so may what is wrong with it
        raise WireError(f"unreadable value: {type(error).__name__}") from error


def _encode(value):
    if value is None or type(value) in _PLAIN:
        return value if not isinstance(value, float) else {"float": repr(value)}
    if isinstance(value, torch.Tensor):
        return _encode_tensor(value)
    if isinstance(value, np.ndarray | np.generic):
        return _encode_array(value)
    if isinstance(value, tuple | list):
        return {type(value).__name__ if type(value) in (tuple, list) else "tuple": [_encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_encode(key), _encode(item)] for key, item in value.items()]}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, torch.nn.Module) and type(value).__module__ == probes.__name__:
        state = {name: tensor.detach() for name, tensor in value.crossing().items()}
        return {"probe": type(value).__name__, "state": _encode(state), "training": value.training}
    if isinstance(value, BaseException):
        return {"raised": [ancestor.__name__ for ancestor in type(value).__mro__], "text": str(value)[:500]}
    return {"opaque": type(value).__name__}


def _encode_tensor(tensor):
    values = tensor.detach().cpu()
    if values.dtype == torch.bfloat16 or values.layout is not torch.strided or values.is_quantized:
        return {"opaque": f"tensor of {values.dtype}"}
    # Those of a clone, as the student's code gets them in this process too: an expanded axis is spread out.
    strides = None if values.is_contiguous() else list(torch.empty_like(values).stride())
    array = values.resolve_conj().resolve_neg().contiguous().numpy()
    return {"tensor": _packed(array), "grad": bool(tensor.requires_grad), "strides": strides}


def _encode_array(value):
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return {"objects": [list(array.shape), [_encode(item) for item in array.ravel()]]}
    if array.dtype.kind not in "biufc":
        return {"opaque": f"array of {array.dtype}"}
    scalar = isinstance(value, np.generic)
    return {
        "array": _packed(array),
        "fortran": array.flags.f_contiguous and not array.flags.c_contiguous,
        "scalar": scalar,
    }


def _packed(array):
    if array.nbytes > MOST_BYTES:
        raise ValueError(f"an array of {array.nbytes} bytes, at most {MOST_BYTES} can be looked at")
    raw = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [array.dtype.str, list(array.shape), raw]


def _unpacked(packed):
    dtype, shape, raw = packed
    if np.dtype(dtype).kind not in "biufc" or len(raw) > 2 * MOST_BYTES:
        raise ValueError(dtype)
    return np.frombuffer(base64.b64decode(raw), dtype=np.dtype(dtype)).reshape(shape).copy()


def _decode(value):
    if not isinstance(value, dict):
        return value
    kind = next(iter(value))
    return _DECODERS[kind](value)


def _decode_tensor(value):
    tensor = torch.from_numpy(_unpacked(value["tensor"]))
    if value["strides"] and len(value["strides"]) == tensor.dim():
        spread = torch.empty_strided(tensor.shape, value["strides"], dtype=tensor.dtype)
        tensor = spread.copy_(tensor) if spread.untyped_storage().nbytes() <= MOST_BYTES else tensor
    return tensor.requires_grad_(bool(value["grad"]) and tensor.is_floating_point())


def _decode_array(value):
    array = _unpacked(value["array"])
    if value["scalar"]:
        return array[()]
    return np.asfortranarray(array) if value["fortran"] else array


def _decode_objects(value):
    shape, items = value["objects"]
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):  # one by one: numpy would spread items that are lists
        array[place] = _decode(item)
    return array.reshape(shape)


def _decode_probe(value):
    kind = getattr(probes, value["probe"])
    if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
        raise ValueError(value["probe"])
    state = _decode(value["state"])
    if any(size > WIDEST_PROBE for tensor in state.values() for size in tensor.shape):
        raise ValueError(f"a probe wider than {WIDEST_PROBE}")
    return kind.from_state(state).train(bool(value["training"]))


def _decode_raised(value):
    known = (getattr(builtins, name, None) for name in value["raised"])
    kind = next(kind for kind in known if isinstance(kind, type) and issubclass(kind, BaseException))
    return kind(value["text"])


def _decode_dtype(value):
    dtype = getattr(torch, value["dtype"])
    if not isinstance(dtype, torch.dtype):
        raise ValueError(value["dtype"])
    return dtype


_DECODERS = {
    "float": lambda value: float(value["float"]),
    "tensor": _decode_tensor,
    "array": _decode_array,
    "objects": _decode_objects,
    "tuple": lambda value: tuple(_decode(item) for item in value["tuple"]),
    "list": lambda value: [_decode(item) for item in value["list"]],
    "dict": lambda value: {_decode(key): _decode(item) for key, item in value["dict"]},
    "dtype": _decode_dtype,
    "probe": _decode_probe,
    "raised": _decode_raised,
    "opaque": lambda value: Opaque(str(value["opaque"])[:60] or "nameless object"),
}

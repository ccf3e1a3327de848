"""Explorers: controls that recompute attention and positional encodings while they are moved.

Use an explorer as the last expression of a cell::

    from course.live import head_splitter
    head_splitter.explore(num_heads=4, seq_len=8, d_model=32)

Every module has ``explore(student_function=None, **initial)``. ``student_function`` is the learner's
answer to one of the exercises named below, recognised by its ``__name__`` (any other name is taken for
the first); its result is shown beside the course's, and its exceptions, wrong shapes and NaN as a
sentence. ``initial`` sets parameters; unknown names raise TypeError, unusable values are explained in
the explorer.

=====================  ==============================================  ==============================================
module                 student_function                                parameters (defaults)
=====================  ==============================================  ==============================================
``head_splitter``      ``split_heads`` or ``head_width``               ``num_heads=4, seq_len=8, d_model=32``
``scale_thermometer``  ``scaled_dot_product_attention``                ``d_head=64, num_heads=8, seq_len=32,
                                                                       scale="sqrt(d_head)"`` | ``"none"`` |
                                                                       ``"sqrt(d_model)"``
``mask_bench``         ``scaled_dot_product_attention``                ``seq_len=8, mask="causal"`` | ``"none"`` |
                                                                       ``"padding"`` | ``"both"``, ``padding=2,
                                                                       inverted=False``
``encoding_explorer``  ``positional_encoding``,                        ``seq_len=50, d_model=16, base=10_000,
                       ``repaired_positional_encoding`` or             position=10, offset=3, projected=False``
                       ``rotation_matrix``
``order_bench``        ``add_positional_encoding``,                    ``seq_len=8, seed=1, encoding="none"`` |
                       ``LearnedPositionalEncoding`` or                ``"sinusoidal"`` | ``"learned"`` |
                       ``order_sensitivity``                           ``"along the batch"``, ``order=None`` (or a
                                                                       sequence of positions)
``real_heads``         ``previous_token_score``,                       ``layer=3, head=1, token=10, sentence="…",
                       ``next_token_score``, ``self_score``,           positions=True``
                       ``delimiter_score``, ``attention_entropy``
                       or ``MultiHeadAttentionFromScratch``
``reveal``             ``scaled_dot_product_attention``                ``query=2, guess=None`` (or a row of five
                                                                       weights), ``revealed=False``
=====================  ==============================================  ==============================================

What ``explore`` returns shows itself as sliders where a kernel and a front end are at work, and as a
picture with its text everywhere else; what is wrong stands above either. It is driven without a front
end by ``set(**parameters)``, which returns the explorer; ``parameters`` is the present state, ``summary``
what the picture shows in one or two sentences, ``problem`` the sentence that says what is wrong (None
when nothing is), and ``svg`` the picture.
"""

EXPLORERS = (
    "encoding_explorer",
    "head_splitter",
    "mask_bench",
    "order_bench",
    "real_heads",
    "reveal",
    "scale_thermometer",
)


def _jupyter_server_extension_points():
    """What JupyterLab's server loads when ``course.live`` is switched on: quick sliders, and pictures when saving."""
    return [{"module": "course.live.websocket"}, {"module": "course.live.saving"}]

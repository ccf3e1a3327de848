import torch

from course.seeding import seeded


def test_the_same_seed_gives_the_same_numbers_and_the_caller_s_own_go_on_as_if_nothing_had_been():
    torch.manual_seed(1)
    wanted = torch.rand(2)
    torch.manual_seed(1)
    own = [torch.rand(1)]
    with seeded(7):
        first = torch.rand(3)
    with seeded(7):
        assert torch.equal(torch.rand(3), first)
    with seeded(8):
        assert not torch.equal(torch.rand(3), first)
    own.append(torch.rand(1))
    assert torch.equal(torch.cat(own), wanted)

"""An auxiliary loss of your own, in a file of your own: tell the next reward from h_t and a_t.

    export MEMORYLAB_EXTENSIONS=examples/my_loss.py
    memorylab train avm --auxiliary cpc next_reward --settings next_reward.weight 0.5

While the variable is there, all verbs of `memorylab` know it, so that what was trained can be evaluated and watched.
"""

from torch import Tensor, nn

from memorylab.agent import AUXILIARY_LOSSES, AgentConfig, AuxiliaryLoss, Inputs, Output


class NextReward(AuxiliaryLoss):
    """(r_(t+1) - f_a(h_t))^2 / 2, with a linear f for each action a, and rewards clipped as the agent sees them."""

    def __init__(self, config: AgentConfig, *, weight: float = 0.1):
        super().__init__()
        self.weight = weight
        self.predict = nn.Linear(config.hidden_size, config.actions)

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, dict[str, Tensor]]:
        """What was done at t, and the reward for it, stand beside the picture at t + 1."""
        predicted = self.predict(output.h[:-1]).gather(-1, inputs.actions[1:, :, None])[..., 0]
        loss = (inputs.rewards[1:].clamp(-1, 1) - predicted).square().mean() / 2
        return loss, {"next_reward": loss}


AUXILIARY_LOSSES["next_reward"] = NextReward

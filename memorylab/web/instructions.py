"""What a person is told before a level: how a round goes, what pays. Short sentences, in the order things happen."""

GAZE = (
    "You look straight ahead: the marks on the frame show where. Look at the red cross to begin a trial.",
    "To answer, move your gaze onto a button, then off it again: green was right and pays 1.",
    "Stay on the panel: five seconds of looking away end the episode.",
)
BLOCKS = (
    "You begin in the first room. Look at the blocks and remember them.",
    "Walk through the corridor in the north. Its gates close around you for a while, then the far one opens.",
    "In the second room one block is different. Walk into it: that pays 1, any other 0, and the episode ends.",
)
ARENA = (
    "Reaching the goal pays 1 and puts you down somewhere else, looking anywhere.",
    "The goal stays where it is for the whole episode: come back as often as you can.",
)

INSTRUCTIONS: dict[str, tuple[str, ...]] = {
    "arbitrary_visuomotor_mapping": (
        "A picture belongs to one of four buttons. The first time it is shown, its button is green.",
        "Later no button is marked: remember which one it was.",
        *GAZE,
    ),
    "continuous_recognition": ("Left button: this picture is new. Right button: you have seen it before.", *GAZE),
    "change_detection": (
        "An array of squares and letters flashes up for less than half a second. Then comes a blank delay.",
        "Look at the black disc: the array comes back. Left button: something changed. Right button: all the same.",
        *GAZE,
    ),
    "what_then_where": (
        "A digit flashes up; remember it. Then four digits flash up: remember where yours stands.",
        "Look at the white disc, then at the button in that place.",
        *GAZE,
    ),
    "spot_diff_basic": (*BLOCKS, "What differs is the colour of one of two blocks."),
    "spot_diff_passive": (*BLOCKS, "What differs is the colour of one of two blocks, which you pass on your way."),
    "spot_diff_multi_object": (*BLOCKS, "What differs is the colour of one of many blocks."),
    "spot_diff_motion": (*BLOCKS, "What differs is the figure in which one of two blocks moves; touch its stand."),
    "visible_goal_with_buildings": ("The goal is a golden oval among buildings.", *ARENA),
    "invisible_goal_with_buildings": (
        "The goal cannot be seen: walk about until the score goes up, and remember the place by the buildings.",
        *ARENA,
    ),
    "invisible_goal_empty_arena": (
        "The goal cannot be seen: walk about until the score goes up, and remember the place by walls and sky.",
        *ARENA,
    ),
    "visible_goal_procedural_maze": (
        "The goal is a golden oval somewhere in a maze that is new in every episode.",
        "Reaching it pays 10 and puts you down elsewhere in the same maze: find the way back as often as you can.",
    ),
    "transitive_inference": (
        "The colours have a hidden order. Two of them stand before you: walk into the higher one.",
        "Right pays 1 and brings another pair; wrong pays 0 and brings the same pair again.",
        "At last come two that you never saw together: the higher one pays 5.",
    ),
}

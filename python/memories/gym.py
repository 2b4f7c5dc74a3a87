"""`Remembering`: a wrapper around a game that speaks text. It records each step and recalls each place.

    env = Remembering(gymnasium.make("MyTextGame-v0"), Memories("Memories.md"))
    obs, info = env.reset()                                            # starts an episode
    while not done:
        action = choose(f"{info['memories']}\\n\\n{obs}")                # what matters at this place
        obs, reward, terminated, truncated, info = env.step(action)    # is recorded

It wraps environments of Gymnasium, of the older gym (`obs, reward, done, info`), of TextWorld and of Jericho, and
answers as they do. It knows score, inventory, death, victory and changes of the world from Jericho, or from `info`:
`score`, `inventory`, `died` or `lost`, `won`, `world_changed` or TextWorld's `facts`. Without a score, a reward changes
the score.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memories import Memories, MemoriesError, Recalled, Tried
from memories._games import State, find_place, parts_of_reset, parts_of_step, state_of, told, turn_of

if TYPE_CHECKING:
    from gymnasium import Env, Wrapper

    _Base = Wrapper[Any, Any, Any, Any]
else:
    try:
        from gymnasium import Env
        from gymnasium import Wrapper as _Base
    except ImportError:
        Env, _Base = (), object

__all__ = ["Remembering", "find_place"]


class Remembering(_Base):
    """An environment that remembers. `info["memories"]` is what is known of the place, as `recall` gives it.

    `place(env, obs, info)` finds the place: an id, a `Place`, an object of Jericho, or a name, of which an id is made
    (`location:west-of-house`). A name with other characters than letters, digits, spaces, `_` and `-` of ASCII gets an
    id with a hash (`Bob's House` is `location:bob-s-house-a8f3d1f9`), and the file has the id in place of the name.
    `None` is the place before. `max_tokens` limits what is recalled.

    `reset` raises `MemoriesError`, and `ValueError` or `TypeError` where the place is not known or what the environment
    tells cannot be read. A step that cannot be read or recorded does not end the game: the error is a `RuntimeWarning`
    and `info["memories_error"]`. With `strict` it is raised. Behind a step that could not be read the player may be
    anywhere: `recall` and `tried` raise `MemoriesError`, and the next step is not recorded.
    """

    def __init__(
        self,
        env: Any,
        memories: Memories,
        *,
        place: Callable[[Any, Any, Mapping[str, Any]], Any] = find_place,
        max_tokens: int | None = None,
        strict: bool = False,
    ) -> None:
        self._game: Any = env
        if isinstance(env, Env):
            super().__init__(self._game)
        self.env, self.memories = self._game, memories
        self._find_place, self._max_tokens, self._is_strict = place, max_tokens, strict
        self._state: State | None = None
        self._is_new = False
        # True behind a step whose place could not be read.
        self._is_lost = False

    def __getattr__(self, name: str) -> Any:
        """What the wrapper does not have is the environment's. Gymnasium has `get_wrapper_attr` for this instead."""
        if name.startswith("_") or isinstance(self._game, Env):
            raise AttributeError(f"`Remembering` has no attribute `{name}`")
        return getattr(self._game, name)

    def reset(self, **kwargs: Any) -> Any:
        """Resets the environment, and starts an episode unless the last one has no step."""
        answer = self._game.reset(**kwargs)
        if not self._is_new:
            self.memories.start_episode()
        self._is_new, self._is_lost, self._state = True, False, None
        self._observe(*parts_of_reset(answer))
        return told(answer, {"memories": str(self.recall())})

    def step(self, action: Any) -> Any:
        """Takes a step, records it, and recalls the place to which it led."""
        if self._state is None:
            raise RuntimeError("reset() comes first")
        before, was_lost = self._state, self._is_lost
        answer = self._game.step(action)
        self._is_new, self._is_lost = False, True
        try:
            obs, info, value = parts_of_step(answer)
            after = self._observe(obs, info, value, was_lost)
            if was_lost:
                raise MemoriesError("the last step could not be read, so it is not known where this one began")
            self.memories.record(turn_of(str(action), obs, before, after), new_place=True)
            news = {"memories": str(self.recall())}
        except Exception as error:  # What the environment tells may be anything.
            if self._is_strict:
                raise
            reason = str(error) if isinstance(error, MemoriesError) else f"{type(error).__name__}: {error}"
            warnings.warn(f"memory failed, and the game goes on: {reason}", RuntimeWarning, stacklevel=2)
            news = {"memories": "", "memories_error": reason}
        return told(answer, news)

    def recall(self) -> Recalled:
        """What is known of the place where the player is."""
        return self.memories.recall(self._known.place[0], max_tokens=self._max_tokens)

    def tried(self, action: str) -> Tried:
        """Whether an action was tried here in vain."""
        return self.memories.tried(self._known.place[0], action)

    @property
    def _known(self) -> State:
        if self._state is None:
            raise RuntimeError("reset() comes first")
        if self._is_lost:
            raise MemoriesError("the last step could not be read, so it is not known where the player is")
        return self._state

    def _observe(self, obs: Any, info: Mapping[str, Any], value: Any, is_lost: bool = False) -> State:
        place = self._find_place(self._game, obs, info)
        if place is None and (self._state is None or is_lost):
            raise ValueError("the environment does not say where the player is: give `place=`")
        self._state = state_of(self._game, info, value, place, self._state)
        self._is_lost = False
        return self._state

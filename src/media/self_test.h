// What mynah-media must not be able to do, tried for the tests.
#pragma once

#include <string_view>

namespace mynah::media {

// Does, after confine(), what a hostile file could make a decoder do: "open" a file, make a
// "socket", "exec" a program, "fork", map memory that is "executable", "spin" for ever, take
// "memory" without end; and what harmless code does: ask "late" for time zones, locales, random
// numbers and a thread, "abort". Returns the exit code where it was not stopped: 0 where the
// attempt failed harmlessly, 9 where it succeeded, 2 for an unknown name.
int try_forbidden(std::string_view what);

}  // namespace mynah::media

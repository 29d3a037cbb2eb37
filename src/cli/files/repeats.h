// Recordings that a command line names more than once.
#pragma once

#include <string>
#include <vector>

namespace mynah::cli {

// Takes out files that stand before under the same name, however that was written ("talk.wav",
// "./talk.wav", a folder with it in); returns them. Links under other names, pipes and "-" stay.
std::vector<std::string> take_repeats(std::vector<std::string>& recordings);

// For the user: "talk.wav is named before: it is heard once".
[[nodiscard]] std::string told_repeats(const std::vector<std::string>& repeats);

}  // namespace mynah::cli

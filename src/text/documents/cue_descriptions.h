// What subtitles for those who do not hear have beside what is said.
#pragma once

#include <string>
#include <vector>

namespace mynah {

// Takes out of the lines of a cue: sounds ("[door slams]", "(LAUGHS)", "(laughs)" at a line's begin
// or alone on it, "*sighs*" alone), and who speaks ("JOHN:", ">> ", ">> John:"). What is in round
// brackets within a sentence stays, and whole sentences in them do. Lines may be left empty.
void take_descriptions(std::vector<std::string>& lines);

}  // namespace mynah

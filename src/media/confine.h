// Takes from this process everything that decoding does not need.
#pragma once

#include <string>

namespace mynah::media {

// From here on the process may read its input and its spool, write its output and its spool, move
// in both, and ask for memory; any other system call ends it (SIGSYS). Its memory is limited (then
// allocations fail) and so is its processor time (then SIGXCPU). Returns an error's text, or
// nothing.
//
// Under a sanitizer, whose runtime needs more, only the limit on time holds.
std::string confine(int cpu_s);

}  // namespace mynah::media

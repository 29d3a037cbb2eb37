// Takes from this process everything that decoding does not need.
#pragma once

#include <string>

namespace mynah::media {

// From here on the process may read its input and its spool, write its output and its spool, move
// in both, ask for memory, and ask what harmless code asks (the clock, random numbers). Files are
// refused with EACCES and everything else with ENOSYS, as libraries ask for a time zone or a table
// late and do without; what no decoder asks for (a socket, a process, executable memory) ends the
// process (SIGSYS). Its memory is limited (then allocations fail) and so is its processor time
// (then SIGXCPU). Returns an error's text, or nothing.
//
// Under a sanitizer, whose runtime needs more, only the limit on time holds.
std::string confine(int cpu_s);

}  // namespace mynah::media

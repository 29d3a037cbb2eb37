// How the fake driver fails where no result says so.
#pragma once

#include <cstddef>

#include "fake_cuda.h"

namespace mynah::gpu::fake {

// Waits for ever: only the process's end ends it.
[[noreturn]] void hang();

// Ends the process by SIGSEGV, whoever handles that signal, and without a core file.
[[noreturn]] void crash();

// What `fault` makes of bytes that came down. NoNumbers: every bit is set. Wrong: of words that are
// numbers in f32 a quarter more and a quarter less, in turn, so that the largest need not stay the
// largest; of others, which small whole numbers are, the lowest bit is another. Nothing otherwise.
void damage(FakeFault fault, void* bytes, size_t count);

}  // namespace mynah::gpu::fake

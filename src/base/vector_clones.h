// Loops of plain arithmetic that the compiler makes vectors of, for what models finish on the host:
// a function so marked is compiled for AVX-512, AVX2 and the baseline, and the dynamic linker takes
// the processor's own. Last bits may differ from one of them to the other, as they do between a
// backend's instruction sets.
#pragma once

// The choice is made before a sanitizer is ready for it.
#if defined(__x86_64__) && !defined(MYNAH_ADDRESS_SANITIZER) && !defined(MYNAH_THREAD_SANITIZER)
#define MYNAH_VECTOR_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define MYNAH_VECTOR_CLONES
#endif

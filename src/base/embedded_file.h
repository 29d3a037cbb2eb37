// Data files that are a part of the program, as they are, without a detour by way of source.
#pragma once

#include <string_view>

// Defines `std::string_view NAME()`, the bytes of the file at PATH, a string literal. NAME is a
// name of the whole program's: the assembler sees it. The target must rebuild the source when the
// file changes (OBJECT_DEPENDS).
#define MYNAH_EMBEDDED_FILE(name, path)                                    \
  asm(".section .rodata\nmynah_embedded_" #name "_begin:\n.incbin \"" path \
      "\"\nmynah_embedded_" #name "_end:\n.previous\n");                   \
  extern "C" {                                                             \
  extern const char mynah_embedded_##name##_begin[];                       \
  extern const char mynah_embedded_##name##_end[];                         \
  }                                                                        \
  static std::string_view name() {                                         \
    return {mynah_embedded_##name##_begin, mynah_embedded_##name##_end};   \
  }

#include "doctor/knowledge/knowledge_files.h"

#include <array>

#include "base/check.h"

// The files as they are, without a detour by way of source.
#define MYNAH_KNOWLEDGE_FILE(name)                                                            \
  asm(".section .rodata\nmynah_knowledge_" #name "_begin:\n.incbin \"" MYNAH_KNOWLEDGE_FOLDER \
      "/" #name ".json\"\nmynah_knowledge_" #name "_end:\n.previous\n");                      \
  extern "C" {                                                                                \
  extern const char mynah_knowledge_##name##_begin[];                                         \
  extern const char mynah_knowledge_##name##_end[];                                           \
  }

MYNAH_KNOWLEDGE_FILE(cards)
MYNAH_KNOWLEDGE_FILE(containers)
MYNAH_KNOWLEDGE_FILE(ctranslate2)
MYNAH_KNOWLEDGE_FILE(drivers)
MYNAH_KNOWLEDGE_FILE(errors)
MYNAH_KNOWLEDGE_FILE(libraries)
MYNAH_KNOWLEDGE_FILE(llama)
MYNAH_KNOWLEDGE_FILE(models)
MYNAH_KNOWLEDGE_FILE(onnxruntime)
MYNAH_KNOWLEDGE_FILE(packages)
MYNAH_KNOWLEDGE_FILE(releases)
MYNAH_KNOWLEDGE_FILE(toolkits)
MYNAH_KNOWLEDGE_FILE(torch)
MYNAH_KNOWLEDGE_FILE(wheels)

namespace mynah::doctor {

namespace {

#define MYNAH_KNOWLEDGE_TEXT(name)                                 \
  KnowledgeFile {                                                  \
    #name ".json", {                                               \
      mynah_knowledge_##name##_begin, mynah_knowledge_##name##_end \
    }                                                              \
  }

std::array<KnowledgeFile, 14> embedded() {
  return {MYNAH_KNOWLEDGE_TEXT(cards),       MYNAH_KNOWLEDGE_TEXT(containers),
          MYNAH_KNOWLEDGE_TEXT(ctranslate2), MYNAH_KNOWLEDGE_TEXT(drivers),
          MYNAH_KNOWLEDGE_TEXT(errors),      MYNAH_KNOWLEDGE_TEXT(libraries),
          MYNAH_KNOWLEDGE_TEXT(llama),       MYNAH_KNOWLEDGE_TEXT(models),
          MYNAH_KNOWLEDGE_TEXT(onnxruntime), MYNAH_KNOWLEDGE_TEXT(packages),
          MYNAH_KNOWLEDGE_TEXT(releases),    MYNAH_KNOWLEDGE_TEXT(toolkits),
          MYNAH_KNOWLEDGE_TEXT(torch),       MYNAH_KNOWLEDGE_TEXT(wheels)};
}

}  // namespace

std::span<const KnowledgeFile> builtin_files() {
  static const std::array<KnowledgeFile, 14> files = embedded();
  return files;
}

const Knowledge& builtin_knowledge() {
  static const Knowledge knowledge = [] {
    Result<Knowledge> parsed = Knowledge::parse(builtin_files());
    MYNAH_CHECK(parsed, parsed.error().message);
    return *std::move(parsed);
  }();
  return knowledge;
}

}  // namespace mynah::doctor

// Flite's voices, which distributions ship as libraries: speech without weights of ours.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah {

struct FliteVoice {
  std::string_view name;
  std::string_view sex;
};

// Both are of US English.
[[nodiscard]] std::span<const FliteVoice> flite_voices();

// A phone in Flite's names ("hh", "ax"), and which word of the text it is of, counted in runs
// between white space.
struct FlitePhone {
  std::string name;
  size_t word = 0;
  size_t begin = 0;  // samples
  size_t end = 0;
};

struct FliteSpeech {
  int rate_hz = 0;
  std::vector<float> samples;
  std::vector<FlitePhone> phones;  // without pauses
};

// Says a text, which Flite reads by its own rules: numbers, abbreviations. `voice` is one of
// flite_voices(); everything takes `stretch` times as long (above 0). Text is given as Flite takes
// it, in ASCII. One call at a time in a process, as Flite keeps global state: Cancelled for who
// wants it no more (base/stop_scope.h) when it is his turn.
[[nodiscard]] Result<FliteSpeech> speak_with_flite(const std::string& text, std::string_view voice,
                                                   float stretch);

}  // namespace mynah

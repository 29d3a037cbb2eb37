// Which versions a range lets come, and what differs between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"
#include "doctor/versions.h"

namespace mynah::doctor {

// What a package comes to where another that a column pins asks for it: CTranslate2 by
// faster-whisper. Empty `by`: nobody asks.
struct Derived {
  std::string by;                // "faster-whisper 1.0.3"
  const Asked* asked = nullptr;  // the one that pins `by`
  SpecifierSet range;
  bool verified = false;
  SpecifierSet asks = {};  // the range, without what constraints and overrides make of it
  bool plain = true;       // under no condition: no marker of what is asked for decides
};

// Whether what a package asks for is asked for at all: not what belongs to one of its extras that
// nobody names ("onnxruntime-gpu>=1.20.1; extra == 'gpu'").
[[nodiscard]] bool is_wanted(const Requirement& need, const Requirement& asked);

[[nodiscard]] Derived derived(const RecipeColumn& column, std::string_view package,
                              const Knowledge& knowledge);

// The same, and where no pinned one asks for it, of one that is asked for and not pinned, by the
// column or by what it pins: what the newest release that is known asks for, which comes if nothing
// holds it back. It is not verified.
[[nodiscard]] Derived brought(const RecipeColumn& column, std::string_view package,
                              const Knowledge& knowledge);

// A stretch of versions that want the same of a machine.
struct Stretch {
  Version from;
  std::optional<Version> below;
  std::string wants;  // "CUDA 12 and cuDNN 9"
  int cuda_major = 0;
  int cudnn_major = 0;  // 0: none
  bool verified = false;
};

// Those of ctranslate2, onnxruntime-gpu or torch that a range lets in, oldest first. Stretches that
// want the same are one. `variant`: of torch, of an index that has this one alone; empty: that of
// the Python index.
[[nodiscard]] std::vector<Stretch> stretches(std::string_view package, const SpecifierSet& range,
                                             const Knowledge& knowledge,
                                             std::string_view variant = {});

// That of one version; none: nothing is known of it.
[[nodiscard]] std::optional<Stretch> stretch_of(std::string_view package, const Version& version,
                                                const Knowledge& knowledge);

// The last version before one: "4.6.2" before 4.6.3, "4.4" before 4.5.0.
[[nodiscard]] std::string last_before(const Version& version);

// "CUDA 12 and cuDNN 8 up to 4.4, CUDA 12 and cuDNN 9 up to 4.6.2, CUDA 12 without cuDNN
// from 4.6.3".
[[nodiscard]] std::string stretches_text(const std::vector<Stretch>& stretches);

}  // namespace mynah::doctor

// What passes between mynah and a worker of an embedding model: its fields, and which answers are
// possible.
#pragma once

#include <vector>

#include "chat/embedding_model.h"
#include "place/wire/wire_types.h"

namespace mynah::place {

// A field that is added to one of these structs must be added here: a test counts them.
template <class Archive>
void wire(Archive& a, EmbeddingFile& v) {
  a(v.path, v.precision, v.cache_folder);
}

template <class Archive>
void wire(Archive& a, EmbeddingFacts& v) {
  a(v.architecture, v.vocabulary, v.longest, v.width, v.normalized);
}

[[nodiscard]] bool is_possible(const EmbeddingFacts& facts);

// A vector of numbers a text.
[[nodiscard]] bool is_possible(const std::vector<float>& vectors, const TokenTexts& texts,
                               const EmbeddingFacts& facts);

}  // namespace mynah::place

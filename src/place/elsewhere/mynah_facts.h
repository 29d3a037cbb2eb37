// What a mynah tells of itself to another that would have it compute.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::place {

// A model that is there.
struct MynahModel {
  std::string name;    // "tiny.en"
  std::string digest;  // SHA-256, as model_digest() has it
};

struct MynahFacts {
  std::string version;  // "0.4.0"
  std::string build;    // of its program: another one computes other values, in other times
  std::vector<MynahModel> models;

  [[nodiscard]] const MynahModel* find(std::string_view digest) const;
};

// As JSON, on one line.
[[nodiscard]] std::string facts_json(const MynahFacts& facts);

// InvalidInput for what is none.
[[nodiscard]] Result<MynahFacts> parse_facts(std::string_view json);

}  // namespace mynah::place

// KindModels: the models of one kind that are here (those that write, those that make vectors), by
// the names that clients call them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/surroundings.h"
#include "server/models/service_options.h"
#include "store/families.h"
#include "store/store.h"

namespace mynah::server {

// A model that is here.
struct HereModel {
  std::string name;
  std::string path;
  std::string digest;   // SHA-256 of its file; of one that is named by a path, of how that stands
  std::string storage;  // of most of its weights; "": nobody knows
  std::string licence;
  std::string changed;  // ISO 8601, UTC; "": nobody knows
  uint64_t size = 0;    // bytes
};

// What becomes of a name that is none of a model that is here.
enum class UnknownName : uint8_t { MeansDefault, Refused };

// Thread-safe.
class KindModels {
 public:
  // `chosen`: what the server was started with: auto, a name or a path. `called`: what one of them
  // is, for messages: "language model". All of it must outlive it.
  KindModels(FamilyKind kind, std::string_view called, const std::string& chosen,
             const ServiceOptions& options, const Environment& environment)
      : kind_(kind),
        called_(called),
        chosen_(chosen),
        options_(options),
        environment_(environment) {}

  // Those that are here, the one first that requests mean which name none.
  [[nodiscard]] std::vector<HereModel> all() const;

  // What a client's name means, as it is opened; "": nothing that is known. A tag may be missing:
  // "qwen3" and "qwen3:latest" are one.
  [[nodiscard]] std::string meant_by(const std::string& name) const;

  // What is opened for a client's name, with whether it names what is not here. NotFound, with the
  // names that are, where that is so and `unknown` or the server refuses it; InvalidInput for a
  // model of another kind. Where none of this kind is here whatever is asked for is taken.
  struct Meant {
    std::string model;
    bool passed_over = false;
    bool by_name = false;  // it is that very name
  };

  [[nodiscard]] Result<Meant> choose(const std::string& name, UnknownName unknown) const;

  // The one of them that a client means by that name. As choose(), and NotFound where none is here.
  [[nodiscard]] Result<HereModel> model(const std::string& name, UnknownName unknown) const;

 private:
  [[nodiscard]] Store store() const;
  [[nodiscard]] const std::string& aliased(const std::string& name) const;
  // Why choose() takes none of those that are here for it.
  [[nodiscard]] Error refusal_of(const std::string& name, const std::vector<HereModel>& here) const;

  FamilyKind kind_;
  std::string_view called_;
  const std::string& chosen_;
  const ServiceOptions& options_;
  const Environment& environment_;
};

}  // namespace mynah::server

// FormValues: the fields of a form, or of a query, by name, as numbers and switches too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mynah::server {

class FormValues {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // `fields` must outlive it.
  explicit FormValues(const Fields& fields) : fields_(fields) {}

  // The last value of that name; "": none, or an empty one, which means the same to clients.
  [[nodiscard]] std::string text(std::string_view name) const;
  // All values of "name" and of "name[]", as libraries write lists.
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
  // None: no value. InvalidInput, with the name, for what is no number from `least` to `most`.
  [[nodiscard]] Result<std::optional<double>> number(std::string_view name, double least,
                                                     double most) const;
  // "true", "1", "yes", "on", and their opposites, in either case. InvalidInput for others.
  [[nodiscard]] Result<std::optional<bool>> flag(std::string_view name) const;

 private:
  const Fields& fields_;
};

}  // namespace mynah::server

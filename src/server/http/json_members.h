// Members of an object that a client sent.
#pragma once

#include <expected>
#include <string>

#include <nlohmann/json.hpp>

#include "server/http/field_error.h"
#include "server/http/fields.h"

namespace mynah::server {

// One that is null is not there. The object must outlive it.
class Members {
 public:
  // `within`: what stands before names in messages: "session.audio.input.".
  explicit Members(const nlohmann::ordered_json& object, std::string within = {})
      : object_(object), within_(std::move(within)) {}

  [[nodiscard]] const nlohmann::ordered_json* find(const char* name) const;
  // Null: it is not there, as where it is no object, which is an error.
  [[nodiscard]] std::expected<const nlohmann::ordered_json*, FieldError> object(
      const char* name) const;
  // "": it is not there.
  [[nodiscard]] std::expected<std::string, FieldError> text(const char* name) const;
  [[nodiscard]] std::expected<double, FieldError> number(const char* name, double least,
                                                         double most, double initial) const;
  [[nodiscard]] std::expected<bool, FieldError> flag(const char* name, bool initial) const;

  // What a member is called in messages.
  [[nodiscard]] std::string called(const char* name) const { return within_ + name; }

 private:
  const nlohmann::ordered_json& object_;
  std::string within_;
};

}  // namespace mynah::server

// What is alike of all questions that other mynahs ask.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "place/wire/wire.h"
#include "server/elsewhere/answer_frames.h"
#include "server/http/errors.h"
#include "server/http/exchange.h"

namespace mynah::server {

// The body where values of eight bytes may begin.
[[nodiscard]] std::vector<std::byte> bytes_of(const Exchange& exchange);

// Refused where `model` computes by another mynah itself, on `devices`: what it is asked would be
// sent on, by two that do for ever.
[[nodiscard]] Status check_here(const std::string& model, const std::string& devices);

// Reads the question, or answers why it cannot.
template <class Question>
[[nodiscard]] bool read_question(Exchange& exchange, std::span<const std::byte> bytes,
                                 Question& question) {
  if (!speaks_protocol(exchange)) {
    return false;
  }
  if (!place::read_wire(bytes, question)) {
    exchange.answer(
        openai_error({ErrorCode::InvalidInput, "the body is no question that another mynah asks"}));
    return false;
  }
  return true;
}

}  // namespace mynah::server

#include "server/http/body.h"

#include <optional>

#include <fmt/format.h>

#include "base/ascii.h"
#include "server/http/message.h"
#include "server/http/multipart.h"

namespace mynah::server {
namespace {

std::unexpected<Error> too_long(std::string_view what, uint64_t most) {
  return fail(ErrorCode::OutOfMemory,
              fmt::format("{} is longer than the {} MB that are taken", what, most >> 20U));
}

// Reads what nobody asked for, so that the connection can go on.
class Forgetful final : public BodyTaker {
 public:
  Status take(std::string_view piece) override {
    constexpr size_t kMost = size_t{1} << 20;
    size_ += piece.size();
    return size_ > kMost ? too_long("a body that is not wanted here", kMost) : Status();
  }

  Result<Body> finish() override { return Body(); }

 private:
  size_t size_ = 0;
};

class TextTaker final : public BodyTaker {
 public:
  explicit TextTaker(uint64_t most) : most_(most) {}

  Status take(std::string_view piece) override {
    if (body_.text.size() + piece.size() > most_) {
      return too_long("the body", most_);
    }
    body_.text += piece;
    return {};
  }

  Result<Body> finish() override { return std::move(body_); }

 private:
  uint64_t most_;
  Body body_;
};

class FormTaker final : public BodyTaker, private PartObserver {
 public:
  FormTaker(const std::string& boundary, const BodyLimits& limits)
      : limits_(limits), reader_(boundary, *this) {}

  Status take(std::string_view piece) override {
    size_ += piece.size();
    return size_ > limits_.most_bytes ? too_long("the form", limits_.most_bytes)
                                      : reader_.take(piece);
  }

  Result<Body> finish() override {
    MYNAH_TRY_STATUS(reader_.finish());
    return std::move(body_);
  }

 private:
  Status on_part(const PartHead& head) override {
    in_file_ = head.is_file;
    if (!head.is_file) {
      body_.fields.emplace_back(head.name, "");
      return {};
    }
    // Each has a descriptor, and memory of its own.
    constexpr size_t kMostFiles = 16;
    if (body_.files.size() >= kMostFiles) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("the form has more than {} files", kMostFiles));
    }
    MYNAH_TRY(Upload bytes, Upload::create(limits_.spool_folder));
    body_.files.push_back(
        {.field = head.name, .name = head.file_name, .type = head.type, .bytes = std::move(bytes)});
    return {};
  }

  Status on_bytes(std::string_view bytes) override {
    if (in_file_) {
      return body_.files.back().bytes.append(bytes);
    }
    text_ += bytes.size();
    if (text_ > limits_.most_text) {
      return too_long("the form's text", limits_.most_text);
    }
    body_.fields.back().second += bytes;
    return {};
  }

  BodyLimits limits_;
  MultipartReader reader_;
  Body body_;
  bool in_file_ = false;
  uint64_t size_ = 0;
  uint64_t text_ = 0;
};

class PairsTaker final : public BodyTaker {
 public:
  explicit PairsTaker(uint64_t most) : text_(most) {}

  Status take(std::string_view piece) override { return text_.take(piece); }

  Result<Body> finish() override {
    MYNAH_TRY(const Body text, text_.finish());
    Body body;
    MYNAH_TRY(body.fields, parse_pairs(text.text));
    return body;
  }

 private:
  TextTaker text_;
};

}  // namespace

Result<std::unique_ptr<BodyTaker>> make_body_taker(Accepts accepts, std::string_view type,
                                                   const BodyLimits& limits) {
  if (accepts == Accepts::Nothing) {
    return std::make_unique<Forgetful>();
  }
  if (accepts == Accepts::Text) {
    return std::make_unique<TextTaker>(limits.most_text);
  }
  if (starts_with_but_for_case(type, "application/x-www-form-urlencoded")) {
    return std::make_unique<PairsTaker>(limits.most_text);
  }
  MYNAH_TRY(const std::string boundary, boundary_of(type));
  return std::make_unique<FormTaker>(boundary, limits);
}

}  // namespace mynah::server

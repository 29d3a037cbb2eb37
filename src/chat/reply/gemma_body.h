// Gemma 4's calls: call:f{city:<|"|>Paris<|"|>,days:3}. Keys stand without quotes, strings between
// tokens of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chat/reply/call_body.h"
#include "chat/reply/json_scan.h"

namespace mynah {

class GemmaBody : public CallBody {
 public:
  explicit GemmaBody(const CallContext& context);

  [[nodiscard]] BodyStep take(std::string_view stream, bool last) override;

  [[nodiscard]] std::string_view held() const override { return held_; }

 private:
  enum class Place {
    Name,
    BeforeKey,
    Key,
    QuotedKey,
    Colon,
    BeforeValue,
    Word,
    Text,
    Json,
    Behind
  };

  BodyStep step(std::string_view stream, bool last);
  BodyStep name(std::string_view stream, bool last);
  BodyStep before(std::string_view stream, bool last);
  BodyStep key(std::string_view stream);
  BodyStep quoted_key(std::string_view stream, bool last);
  BodyStep word(std::string_view stream, bool last);
  BodyStep text(std::string_view stream, bool last);
  BodyStep json(std::string_view stream);
  BodyStep behind(std::string_view stream);
  BodyStep open(char bracket);
  BodyStep close(char bracket);
  void tell(std::string_view value);

  CallContext context_;
  std::vector<std::string> quote_;
  std::vector<std::string> name_stops_;
  std::vector<std::string> text_stops_;
  Place place_ = Place::Name;
  std::string held_;
  std::string around_;  // the brackets that are open
  bool comma_ = false;  // one is due before the next key or value
  std::string word_;
  JsonScan scan_;
};

}  // namespace mynah

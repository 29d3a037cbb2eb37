// Where a JSON value ends in text that comes byte by byte. Only strings and brackets are looked at:
// a reader of the whole value says whether it is JSON.
#pragma once

namespace mynah {

class JsonScan {
 public:
  enum class Step {
    Inside,  // the byte belongs to the value, which goes on
    Ends,    // the byte is the value's last
    Before,  // the value, a number or a word, ended before this byte
    Broken,  // no value has this byte here, or it is nested deeper than kMaxJsonDepth
  };

  // The first byte is the value's first, no white space.
  [[nodiscard]] Step next(char byte);

 private:
  int depth_ = 0;
  bool string_ = false;
  bool escaped_ = false;
  bool word_ = false;
};

}  // namespace mynah

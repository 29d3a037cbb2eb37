// TagReader: HTML, XHTML and XML as a run of tags and text, however badly they nest.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mynah {

// One step through a document. Comments, processing instructions and doctypes are passed over; so
// entities are the named and numbered ones alone, and none can grow.
struct Tag {
  enum class Kind { Text, Open, Close };

  Kind kind = Kind::Text;
  std::string name;  // of a tag: in small letters, without its namespace's prefix
  std::string text;  // of text: with entities replaced; of a tag: empty
  // In the order written; names in small letters with their prefix, values with entities replaced.
  std::vector<std::pair<std::string, std::string>> attributes;
  bool closed = false;  // an open tag that closes itself: <br/>

  [[nodiscard]] std::string_view attribute(std::string_view wanted) const;
};

class TagReader {
 public:
  // The text must outlive it.
  explicit TagReader(std::string_view text) : text_(text) {}

  // None at the end. Takes time in proportion to what it reads; a tag that never ends is text.
  std::optional<Tag> next();

  // Bytes that were read: where the next step begins.
  [[nodiscard]] size_t position() const { return at_; }

 private:
  bool pass_over();
  std::optional<Tag> read_tag();
  bool read_attributes(size_t& at, Tag& tag) const;
  std::string_view take_raw(std::string_view name);

  std::string_view text_;
  size_t at_ = 0;
  std::string raw_;  // the element whose text is taken as it is: script, style
  bool no_more_tags_ = false;
};

// Text with &amp;, &#8217;, &#x2019; and the named entities of HTML 4 replaced; unknown ones stay.
[[nodiscard]] std::string replace_entities(std::string_view text);

// Whether one of an attribute's words, with spaces between them, is that one.
[[nodiscard]] bool has_word(std::string_view words, std::string_view wanted);

}  // namespace mynah

// MarkedText: a string that knows of each byte whether the template wrote it or was given it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mynah::jinja {

// UTF-8. A border between two origins is never within a code point, as only whole strings are put
// together and only whole code points are taken apart.
class MarkedText {
 public:
  MarkedText() = default;
  explicit MarkedText(std::string bytes, bool given = false);

  [[nodiscard]] std::string_view view() const { return bytes_; }

  [[nodiscard]] size_t size() const { return bytes_.size(); }

  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  // What it holds of memory, in bytes.
  [[nodiscard]] size_t footprint() const;

  void append(std::string_view bytes, bool given);
  void append(const MarkedText& other);
  // Bytes [begin, end) of another text.
  void append_part(const MarkedText& other, size_t begin, size_t end);

  // Bytes [begin, end) as a text of its own.
  [[nodiscard]] MarkedText part(size_t begin, size_t end) const;

  // Calls act(string_view, bool given) for each run of one origin within [begin, end), in order.
  template <class Act>
  void each_run(size_t begin, size_t end, Act&& act) const {
    bool given = first_given_;
    size_t start = 0;
    for (size_t turn = 0; turn <= turns_.size() && start < end; ++turn) {
      const size_t stop = turn < turns_.size() ? turns_[turn] : bytes_.size();
      const size_t from = std::max(start, begin);
      const size_t to = std::min(stop, end);
      if (from < to) {
        act(std::string_view(bytes_).substr(from, to - from), given);
      }
      start = stop;
      given = !given;
    }
  }

  template <class Act>
  void each_run(Act&& act) const {
    each_run(0, bytes_.size(), std::forward<Act>(act));
  }

  // A text of the same origins with each run changed by map(string_view) -> std::string.
  template <class Map>
  [[nodiscard]] MarkedText mapped(Map&& map) const {
    MarkedText out;
    each_run([&](std::string_view run, bool given) { out.append(map(run), given); });
    out.safe = safe;
    return out;
  }

  // Python's markupsafe.Markup: what is put to it by an operator is escaped as HTML.
  bool safe = false;

 private:
  std::string bytes_;
  bool first_given_ = false;
  std::vector<size_t> turns_;  // where the origin changes, ascending, within the text
};

}  // namespace mynah::jinja

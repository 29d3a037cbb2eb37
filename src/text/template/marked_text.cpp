#include "text/template/marked_text.h"

namespace mynah::jinja {

MarkedText::MarkedText(std::string bytes, bool given)
    : bytes_(std::move(bytes)), first_given_(given) {}

size_t MarkedText::footprint() const {
  return sizeof(MarkedText) + bytes_.capacity() + turns_.capacity() * sizeof(size_t);
}

void MarkedText::append(std::string_view bytes, bool given) {
  if (bytes.empty()) {
    return;
  }
  const bool last_given = first_given_ != (turns_.size() % 2 == 1);
  if (bytes_.empty()) {
    turns_.clear();
    first_given_ = given;
  } else if (given != last_given) {
    turns_.push_back(bytes_.size());
  }
  bytes_ += bytes;
}

void MarkedText::append(const MarkedText& other) {
  append_part(other, 0, other.size());
}

void MarkedText::append_part(const MarkedText& other, size_t begin, size_t end) {
  other.each_run(begin, end, [&](std::string_view run, bool given) { append(run, given); });
}

MarkedText MarkedText::part(size_t begin, size_t end) const {
  MarkedText out;
  out.append_part(*this, begin, end);
  out.safe = safe;
  return out;
}

}  // namespace mynah::jinja

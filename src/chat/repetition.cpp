#include "chat/repetition.h"

#include <algorithm>
#include <bitset>
#include <utility>
#include <vector>

#include "base/ascii.h"

namespace mynah {
namespace {

constexpr size_t kLongestRun = 512;
constexpr size_t kLeastTimes = 6;
constexpr size_t kLeastLetters = 6;
constexpr size_t kTimesOfFew = 5;  // the least bytes
constexpr size_t kLookEach = 128;

// Different letters; a byte of a character beyond ASCII counts as one.
size_t letters_in(std::string_view run) {
  std::bitset<256> letters;
  for (const char byte : run) {
    if (is_ascii_letter(byte) || (byte & 0x80) != 0) {
      letters.set(static_cast<unsigned char>(ascii_lower(byte)));
    }
  }
  return letters.count();
}

// Whether the text ends with one run again and again. The shortest period of each ending comes from
// the longest border of it (Knuth, Morris and Pratt's failure function, of the text backwards).
bool ends_repeating(std::string_view text, size_t least) {
  const std::string backwards(text.rbegin(), text.rend());
  std::vector<size_t> border(backwards.size() + 1, 0);
  size_t known = 0;
  size_t counted = 0;  // the run whose letters are known
  size_t letters = 0;
  for (size_t length = 2; length <= backwards.size(); ++length) {
    const char next = backwards[length - 1];
    while (known > 0 && backwards[known] != next) {
      known = border[known];
    }
    known += backwards[known] == next ? 1 : 0;
    border[length] = known;
    const size_t run = length - known;
    if (run > kLongestRun || length < least || length < run * kLeastTimes) {
      continue;
    }
    if (std::exchange(counted, run) != run) {
      letters = letters_in(text.substr(text.size() - run));
    }
    if (letters >= kLeastLetters || length >= kTimesOfFew * least) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool RepetitionWatch::push(std::string_view text) {
  if (told_) {
    return false;
  }
  tail_ += text;
  unseen_ += text.size();
  if (unseen_ < kLookEach) {
    return false;
  }
  unseen_ = 0;
  const size_t looked_at = std::max(kLongestRun * kLeastTimes, kTimesOfFew * least_);
  tail_.erase(0, tail_.size() - std::min(tail_.size(), looked_at));
  told_ = ends_repeating(tail_, least_);
  return told_;
}

}  // namespace mynah

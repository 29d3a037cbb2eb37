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
constexpr size_t kLeastBytes = 800;
constexpr size_t kLeastLetters = 6;
constexpr size_t kLeastBytesOfFew = 4000;
constexpr size_t kTail = kLeastBytesOfFew;
constexpr size_t kLookEach = 128;
static_assert(kTail >= kLongestRun * kLeastTimes);

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
bool ends_repeating(std::string_view text) {
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
    if (run > kLongestRun || length < kLeastBytes || length < run * kLeastTimes) {
      continue;
    }
    if (std::exchange(counted, run) != run) {
      letters = letters_in(text.substr(text.size() - run));
    }
    if (letters >= kLeastLetters || length >= kLeastBytesOfFew) {
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
  tail_.erase(0, tail_.size() - std::min(tail_.size(), kTail));
  told_ = ends_repeating(tail_);
  return told_;
}

}  // namespace mynah

// Emoji by their names. Names are short forms of the Unicode CLDR's short names.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "text/spoken/reading.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Emoji {
  char32_t character;
  std::string_view name;
};

constexpr std::array kEmoji = std::to_array<Emoji>({
    {U'\u231A', "watch"},
    {U'\u23F0', "alarm clock"},
    {U'\u2600', "sun"},
    {U'\u2601', "cloud"},
    {U'\u2602', "umbrella"},
    {U'\u2603', "snowman"},
    {U'\u2614', "umbrella with rain"},
    {U'\u2615', "coffee"},
    {U'\u261D', "index finger pointing up"},
    {U'\u2620', "skull and crossbones"},
    {U'\u2639', "frowning face"},
    {U'\u263A', "smiling face"},
    {U'\u2660', "spades"},
    {U'\u2663', "clubs"},
    {U'\u2665', "heart"},
    {U'\u2666', "diamonds"},
    {U'\u267B', "recycling"},
    {U'\u2693', "anchor"},
    {U'\u26A0', "warning"},
    {U'\u26A1', "lightning"},
    {U'\u26BD', "soccer ball"},
    {U'\u26C4', "snowman"},
    {U'\u26D4', "no entry"},
    {U'\u2705', "check mark"},
    {U'\u2708', "airplane"},
    {U'\u2709', "envelope"},
    {U'\u270A', "raised fist"},
    {U'\u270B', "raised hand"},
    {U'\u270C', "victory hand"},
    {U'\u270D', "writing hand"},
    {U'\u270F', "pencil"},
    {U'\u2713', "check mark"},
    {U'\u2714', "check mark"},
    {U'\u2716', "cross mark"},
    {U'\u2717', "cross mark"},
    {U'\u2728', "sparkles"},
    {U'\u2744', "snowflake"},
    {U'\u274C', "cross mark"},
    {U'\u274E', "cross mark"},
    {U'\u2753', "question mark"},
    {U'\u2757', "exclamation mark"},
    {U'\u2764', "heart"},
    {U'\u27A1', "right arrow"},
    {U'\u2B05', "left arrow"},
    {U'\u2B06', "up arrow"},
    {U'\u2B07', "down arrow"},
    {U'\u2B50', "star"},
    {U'\u2605', "star"},
    {U'\u2606', "star"},
    {U'\U0001F308', "rainbow"},
    {U'\U0001F30D', "globe"},
    {U'\U0001F30E', "globe"},
    {U'\U0001F30F', "globe"},
    {U'\U0001F31E', "sun"},
    {U'\U0001F319', "moon"},
    {U'\U0001F31F', "glowing star"},
    {U'\U0001F325', "cloud"},
    {U'\U0001F327', "rain"},
    {U'\U0001F331', "seedling"},
    {U'\U0001F332', "evergreen tree"},
    {U'\U0001F333', "tree"},
    {U'\U0001F334', "palm tree"},
    {U'\U0001F337', "tulip"},
    {U'\U0001F338', "cherry blossom"},
    {U'\U0001F339', "rose"},
    {U'\U0001F33B', "sunflower"},
    {U'\U0001F340', "four leaf clover"},
    {U'\U0001F34E', "red apple"},
    {U'\U0001F34C', "banana"},
    {U'\U0001F353', "strawberry"},
    {U'\U0001F354', "hamburger"},
    {U'\U0001F355', "pizza"},
    {U'\U0001F35E', "bread"},
    {U'\U0001F366', "ice cream"},
    {U'\U0001F369', "doughnut"},
    {U'\U0001F36A', "cookie"},
    {U'\U0001F370', "cake"},
    {U'\U0001F377', "wine glass"},
    {U'\U0001F37A', "beer"},
    {U'\U0001F37B', "clinking beer mugs"},
    {U'\U0001F37E', "champagne"},
    {U'\U0001F381', "gift"},
    {U'\U0001F382', "birthday cake"},
    {U'\U0001F383', "jack-o-lantern"},
    {U'\U0001F384', "Christmas tree"},
    {U'\U0001F385', "Santa Claus"},
    {U'\U0001F388', "balloon"},
    {U'\U0001F389', "party popper"},
    {U'\U0001F38A', "confetti ball"},
    {U'\U0001F393', "graduation cap"},
    {U'\U0001F3A4', "microphone"},
    {U'\U0001F3A7', "headphone"},
    {U'\U0001F3A8', "palette"},
    {U'\U0001F3AC', "clapper board"},
    {U'\U0001F3AE', "video game"},
    {U'\U0001F3AF', "bullseye"},
    {U'\U0001F3B5', "musical note"},
    {U'\U0001F3B6', "musical notes"},
    {U'\U0001F3B8', "guitar"},
    {U'\U0001F3C0', "basketball"},
    {U'\U0001F3C6', "trophy"},
    {U'\U0001F3C8', "football"},
    {U'\U0001F3E0', "house"},
    {U'\U0001F3E5', "hospital"},
    {U'\U0001F3EB', "school"},
    {U'\U0001F40D', "snake"},
    {U'\U0001F41B', "bug"},
    {U'\U0001F41D', "bee"},
    {U'\U0001F41F', "fish"},
    {U'\U0001F426', "bird"},
    {U'\U0001F427', "penguin"},
    {U'\U0001F431', "cat"},
    {U'\U0001F436', "dog"},
    {U'\U0001F43B', "bear"},
    {U'\U0001F440', "eyes"},
    {U'\U0001F442', "ear"},
    {U'\U0001F446', "finger pointing up"},
    {U'\U0001F447', "finger pointing down"},
    {U'\U0001F448', "finger pointing left"},
    {U'\U0001F449', "finger pointing right"},
    {U'\U0001F44A', "fist"},
    {U'\U0001F44B', "waving hand"},
    {U'\U0001F44C', "OK hand"},
    {U'\U0001F44D', "thumbs up"},
    {U'\U0001F44E', "thumbs down"},
    {U'\U0001F44F', "clapping hands"},
    {U'\U0001F451', "crown"},
    {U'\U0001F468', "man"},
    {U'\U0001F469', "woman"},
    {U'\U0001F466', "boy"},
    {U'\U0001F467', "girl"},
    {U'\U0001F476', "baby"},
    {U'\U0001F47B', "ghost"},
    {U'\U0001F47D', "alien"},
    {U'\U0001F480', "skull"},
    {U'\U0001F483', "dancing woman"},
    {U'\U0001F48B', "kiss mark"},
    {U'\U0001F48E', "gem"},
    {U'\U0001F490', "bouquet"},
    {U'\U0001F493', "beating heart"},
    {U'\U0001F494', "broken heart"},
    {U'\U0001F495', "two hearts"},
    {U'\U0001F496', "sparkling heart"},
    {U'\U0001F497', "growing heart"},
    {U'\U0001F499', "blue heart"},
    {U'\U0001F49A', "green heart"},
    {U'\U0001F49B', "yellow heart"},
    {U'\U0001F49C', "purple heart"},
    {U'\U0001F5A4', "black heart"},
    {U'\U0001F9E1', "orange heart"},
    {U'\U0001F4A1', "light bulb"},
    {U'\U0001F4A3', "bomb"},
    {U'\U0001F4A4', "sleeping"},
    {U'\U0001F4A5', "collision"},
    {U'\U0001F4A9', "pile of poo"},
    {U'\U0001F4AA', "flexed biceps"},
    {U'\U0001F4AC', "speech balloon"},
    {U'\U0001F4AF', "hundred points"},
    {U'\U0001F4B0', "money bag"},
    {U'\U0001F4BB', "laptop"},
    {U'\U0001F4BC', "briefcase"},
    {U'\U0001F4C5', "calendar"},
    {U'\U0001F4C8', "chart going up"},
    {U'\U0001F4C9', "chart going down"},
    {U'\U0001F4CA', "bar chart"},
    {U'\U0001F4CC', "pin"},
    {U'\U0001F4CD', "pin"},
    {U'\U0001F4DA', "books"},
    {U'\U0001F4DD', "memo"},
    {U'\U0001F4DE', "telephone"},
    {U'\U0001F4E2', "loudspeaker"},
    {U'\U0001F4E6', "package"},
    {U'\U0001F4E7', "e-mail"},
    {U'\U0001F4F1', "mobile phone"},
    {U'\U0001F4F7', "camera"},
    {U'\U0001F50B', "battery"},
    {U'\U0001F50D', "magnifying glass"},
    {U'\U0001F511', "key"},
    {U'\U0001F512', "lock"},
    {U'\U0001F514', "bell"},
    {U'\U0001F517', "link"},
    {U'\U0001F525', "fire"},
    {U'\U0001F527', "wrench"},
    {U'\U0001F528', "hammer"},
    {U'\U0001F600', "grinning face"},
    {U'\U0001F601', "beaming face"},
    {U'\U0001F602', "face with tears of joy"},
    {U'\U0001F603', "grinning face"},
    {U'\U0001F604', "grinning face"},
    {U'\U0001F605', "grinning face with sweat"},
    {U'\U0001F606', "laughing face"},
    {U'\U0001F607', "smiling face with halo"},
    {U'\U0001F608', "smiling face with horns"},
    {U'\U0001F609', "winking face"},
    {U'\U0001F60A', "smiling face"},
    {U'\U0001F60B', "face savoring food"},
    {U'\U0001F60D', "heart eyes"},
    {U'\U0001F60E', "smiling face with sunglasses"},
    {U'\U0001F60F', "smirking face"},
    {U'\U0001F610', "neutral face"},
    {U'\U0001F612', "unamused face"},
    {U'\U0001F614', "pensive face"},
    {U'\U0001F618', "face blowing a kiss"},
    {U'\U0001F61C', "winking face with tongue"},
    {U'\U0001F61E', "disappointed face"},
    {U'\U0001F621', "angry face"},
    {U'\U0001F622', "crying face"},
    {U'\U0001F62D', "loudly crying face"},
    {U'\U0001F62E', "surprised face"},
    {U'\U0001F631', "screaming face"},
    {U'\U0001F633', "flushed face"},
    {U'\U0001F634', "sleeping face"},
    {U'\U0001F637', "face with mask"},
    {U'\U0001F642', "slightly smiling face"},
    {U'\U0001F643', "upside-down face"},
    {U'\U0001F644', "rolling eyes"},
    {U'\U0001F648', "see-no-evil monkey"},
    {U'\U0001F64B', "raised hand"},
    {U'\U0001F64C', "raising hands"},
    {U'\U0001F64F', "folded hands"},
    {U'\U0001F680', "rocket"},
    {U'\U0001F681', "helicopter"},
    {U'\U0001F697', "car"},
    {U'\U0001F68C', "bus"},
    {U'\U0001F6A8', "police light"},
    {U'\U0001F6AB', "prohibited"},
    {U'\U0001F6B2', "bicycle"},
    {U'\U0001F6D1', "stop sign"},
    {U'\U0001F6D2', "shopping cart"},
    {U'\U0001F7E2', "green circle"},
    {U'\U0001F534', "red circle"},
    {U'\U0001F910', "zipper-mouth face"},
    {U'\U0001F912', "face with thermometer"},
    {U'\U0001F914', "thinking face"},
    {U'\U0001F916', "robot"},
    {U'\U0001F917', "hugging face"},
    {U'\U0001F918', "sign of the horns"},
    {U'\U0001F91D', "handshake"},
    {U'\U0001F91E', "crossed fingers"},
    {U'\U0001F923', "rolling on the floor laughing"},
    {U'\U0001F926', "facepalm"},
    {U'\U0001F929', "star-struck"},
    {U'\U0001F92F', "exploding head"},
    {U'\U0001F937', "shrug"},
    {U'\U0001F942', "clinking glasses"},
    {U'\U0001F970', "smiling face with hearts"},
    {U'\U0001F973', "partying face"},
    {U'\U0001F97A', "pleading face"},
    {U'\U0001F984', "unicorn"},
    {U'\U0001F98B', "butterfly"},
    {U'\U0001F9E0', "brain"},
    {U'\U0001FAE1', "saluting face"},
});

// Flags by ISO 3166-1's two letters.
constexpr std::array kFlags = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"US", "the United States"},
    {"GB", "the United Kingdom"},
    {"DE", "Germany"},
    {"FR", "France"},
    {"ES", "Spain"},
    {"IT", "Italy"},
    {"PT", "Portugal"},
    {"NL", "the Netherlands"},
    {"BE", "Belgium"},
    {"CH", "Switzerland"},
    {"AT", "Austria"},
    {"SE", "Sweden"},
    {"NO", "Norway"},
    {"DK", "Denmark"},
    {"FI", "Finland"},
    {"PL", "Poland"},
    {"CZ", "Czechia"},
    {"UA", "Ukraine"},
    {"RU", "Russia"},
    {"GR", "Greece"},
    {"TR", "Turkey"},
    {"IE", "Ireland"},
    {"CN", "China"},
    {"JP", "Japan"},
    {"KR", "South Korea"},
    {"IN", "India"},
    {"AU", "Australia"},
    {"NZ", "New Zealand"},
    {"CA", "Canada"},
    {"MX", "Mexico"},
    {"BR", "Brazil"},
    {"AR", "Argentina"},
    {"ZA", "South Africa"},
    {"EG", "Egypt"},
    {"IL", "Israel"},
    {"EU", "the European Union"},
});

// Faces of ASCII, which stand alone between spaces.
constexpr auto kEmoticons =
    std::to_array<std::pair<std::string_view, std::string_view>>({{":)", "smiling face"},
                                                                  {":-)", "smiling face"},
                                                                  {":(", "frowning face"},
                                                                  {":-(", "frowning face"},
                                                                  {";)", "winking face"},
                                                                  {";-)", "winking face"},
                                                                  {":D", "grinning face"},
                                                                  {":-D", "grinning face"},
                                                                  {":P", "face with tongue"},
                                                                  {":-P", "face with tongue"},
                                                                  {"<3", "heart"},
                                                                  {":'(", "crying face"},
                                                                  {"xD", "laughing face"},
                                                                  {":-/", "skeptical face"},
                                                                  {"^_^", "smiling face"}});

constexpr size_t kMostRepeats = 64;

char32_t code_point_at(const Tokens& tokens, size_t at) {
  return tokens.kind(at) == Token::Kind::Mark ? next_code_point(tokens.text(at)).code_point : 0;
}

bool between(char32_t c, char32_t low, char32_t high) {
  return c >= low && c <= high;
}

bool is_regional(char32_t c) {
  return between(c, 0x1F1E6, 0x1F1FF);
}

// Sharps, flats and naturals are read as signs.
bool is_emoji(char32_t c) {
  if (between(c, 0x266D, 0x266F)) {
    return false;
  }
  return between(c, 0x1F000, 0x1FAFF) || between(c, 0x2600, 0x27BF) || between(c, 0x2B00, 0x2BFF) ||
         between(c, 0x2300, 0x23FF) || between(c, 0x25A0, 0x25FF);
}

// One past an emoji with its skin tone and all that is joined to it.
size_t sequence_end(const Tokens& tokens, size_t at) {
  size_t end = at + 1;
  for (size_t parts = 0; parts < 8; ++parts) {
    if (between(code_point_at(tokens, end), 0x1F3FB, 0x1F3FF)) {
      ++end;
    }
    if (code_point_at(tokens, end) != 0x200D || code_point_at(tokens, end + 1) == 0) {
      break;
    }
    end += 2;
  }
  return end;
}

std::optional<Reading> read_emoticon(const Tokens& tokens, size_t at,
                                     const SpokenOptions& options) {
  if (at > 0 && !tokens.is_space(at - 1)) {
    return std::nullopt;
  }
  for (const auto& [face, name] : kEmoticons) {
    size_t end = at;
    while (end - at < face.size() && tokens.text(at, end).size() < face.size() &&
           !tokens.is_end(end)) {
      ++end;
    }
    const bool alone = tokens.is_space(end) || tokens.is_end(end);
    if (alone && tokens.text(at, end) == face) {
      return Reading{end, options.emoji == EmojiReading::Silent ? "" : std::string(name)};
    }
  }
  return std::nullopt;
}

std::string_view flag_name(char32_t first, char32_t second) {
  const std::array<char, 2> code = {static_cast<char>('A' + (first - 0x1F1E6)),
                                    static_cast<char>('A' + (second - 0x1F1E6))};
  for (const auto& [letters, name] : kFlags) {
    if (letters == std::string_view(code.data(), code.size())) {
      return name;
    }
  }
  return {};
}

}  // namespace

std::optional<Reading> read_emoji(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  const char32_t c = code_point_at(tokens, at);
  if (is_regional(c) && is_regional(code_point_at(tokens, at + 1))) {
    const std::string_view name = flag_name(c, code_point_at(tokens, at + 1));
    const bool silent = name.empty() || options.emoji == EmojiReading::Silent;
    return Reading{at + 2, silent ? "" : "flag of " + std::string(name)};
  }
  if (!is_emoji(c)) {
    return read_emoticon(tokens, at, options);
  }
  // The same one several times is said once.
  size_t end = sequence_end(tokens, at);
  for (size_t repeats = 0; repeats < kMostRepeats && code_point_at(tokens, end) == c; ++repeats) {
    end = sequence_end(tokens, end);
  }
  const auto* const found = std::ranges::find(kEmoji, c, &Emoji::character);
  const bool silent = found == kEmoji.end() || options.emoji == EmojiReading::Silent;
  return Reading{end, silent ? "" : std::string(found->name)};
}

}  // namespace mynah

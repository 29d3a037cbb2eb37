#include "text/phonemes/open_jtalk/kana.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "text/utf8.h"

namespace mynah::open_jtalk {
namespace {

struct KanaSound {
  std::u32string_view kana;
  std::u32string_view sound;
};

// Kana whose two signs together are not what their parts would make. The rest of those with a small
// sign behind them follow a rule: sound_of().
constexpr auto kPairs = std::to_array<KanaSound>(
    {{U"ウィ", U"βi"},  {U"ウェ", U"βe"},  {U"ウォ", U"βo"},  {U"イェ", U"je"},
     {U"クァ", U"kᵝa"}, {U"クィ", U"kᵝi"}, {U"クェ", U"kᵝe"}, {U"クォ", U"kᵝo"},
     {U"クヮ", U"kᵝa"}, {U"グァ", U"ɡᵝa"}, {U"グィ", U"ɡᵝi"}, {U"グェ", U"ɡᵝe"},
     {U"グォ", U"ɡᵝo"}, {U"グヮ", U"ɡᵝa"}, {U"ツィ", U"ʦʲi"}, {U"ティ", U"tʲi"},
     {U"テュ", U"tʲɨ"}, {U"ディ", U"dʲi"}, {U"デュ", U"dʲɨ"}, {U"フィ", U"ɸʲi"},
     {U"フュ", U"ɸʲɨ"}, {U"フョ", U"ɸʲo"}, {U"ヴィ", U"vʲi"}, {U"ヴュ", U"bʲɨ"},
     {U"ヴョ", U"bʲo"}});

// One sign. Small ones stand here for themselves alone.
constexpr auto kSigns = std::to_array<KanaSound>(
    {{U"ア", U"a"},   {U"イ", U"i"},   {U"ウ", U"ɯ"},   {U"エ", U"e"},  {U"オ", U"o"},
     {U"ァ", U"a"},   {U"ィ", U"i"},   {U"ゥ", U"ɯ"},   {U"ェ", U"e"},  {U"ォ", U"o"},
     {U"カ", U"ka"},  {U"キ", U"kʲi"}, {U"ク", U"kɯ"},  {U"ケ", U"ke"}, {U"コ", U"ko"},
     {U"ガ", U"ɡa"},  {U"ギ", U"ɡʲi"}, {U"グ", U"ɡɯ"},  {U"ゲ", U"ɡe"}, {U"ゴ", U"ɡo"},
     {U"サ", U"sa"},  {U"シ", U"ɕi"},  {U"ス", U"sɨ"},  {U"セ", U"se"}, {U"ソ", U"so"},
     {U"ザ", U"ʣa"},  {U"ジ", U"ʥi"},  {U"ズ", U"zɨ"},  {U"ゼ", U"ʣe"}, {U"ゾ", U"ʣo"},
     {U"タ", U"ta"},  {U"チ", U"ʨi"},  {U"ツ", U"ʦɨ"},  {U"テ", U"te"}, {U"ト", U"to"},
     {U"ダ", U"da"},  {U"ヂ", U"ʥi"},  {U"ヅ", U"zɨ"},  {U"デ", U"de"}, {U"ド", U"do"},
     {U"ナ", U"na"},  {U"ニ", U"ɲi"},  {U"ヌ", U"nɯ"},  {U"ネ", U"ne"}, {U"ノ", U"no"},
     {U"ハ", U"ha"},  {U"ヒ", U"çi"},  {U"フ", U"ɸɯ"},  {U"ヘ", U"he"}, {U"ホ", U"ho"},
     {U"バ", U"ba"},  {U"ビ", U"bʲi"}, {U"ブ", U"bɯ"},  {U"ベ", U"be"}, {U"ボ", U"bo"},
     {U"パ", U"pa"},  {U"ピ", U"pʲi"}, {U"プ", U"pɯ"},  {U"ペ", U"pe"}, {U"ポ", U"po"},
     {U"マ", U"ma"},  {U"ミ", U"mʲi"}, {U"ム", U"mɯ"},  {U"メ", U"me"}, {U"モ", U"mo"},
     {U"ヤ", U"ja"},  {U"ユ", U"jɯ"},  {U"ヨ", U"jo"},  {U"ャ", U"ja"}, {U"ュ", U"jɯ"},
     {U"ョ", U"jo"},  {U"ラ", U"ɾa"},  {U"リ", U"ɾʲi"}, {U"ル", U"ɾɯ"}, {U"レ", U"ɾe"},
     {U"ロ", U"ɾo"},  {U"ワ", U"βa"},  {U"ヮ", U"βa"},  {U"ヰ", U"i"},  {U"ヱ", U"e"},
     {U"ヲ", U"o"},   {U"ヴ", U"vɯ"},  {U"ヵ", U"ka"},  {U"ヶ", U"ke"}, {U"ヷ", U"va"},
     {U"ヸ", U"vʲi"}, {U"ヹ", U"ve"},  {U"ヺ", U"vo"},  {U"ッ", U"ʔ"},  {U"ー", U"ː"}});

constexpr std::u32string_view kSmall = U"ァィゥェォャュョ";
// What a small sign makes of the vowel before it: キ (kʲi) and ャ are kʲa.
constexpr auto kPalatal =
    std::to_array<KanaSound>({{U"ャ", U"a"}, {U"ュ", U"ɨ"}, {U"ョ", U"o"}, {U"ェ", U"e"}});
constexpr char32_t kNasal = U'ン';

constexpr auto kMarks = std::to_array<std::pair<char32_t, std::string_view>>(
    {{U'。', "."}, {U'．', "."}, {U'.', "."},  {U'、', ","}, {U'，', ","}, {U',', ","},
     {U'！', "!"}, {U'!', "!"},  {U'？', "?"}, {U'?', "?"},  {U'：', ":"}, {U':', ":"},
     {U'；', ";"}, {U';', ";"},  {U'…', "…"},  {U'‥', "…"},  {U'—', "—"},  {U'―', "—"},
     {U'〜', "—"}, {U'～', "—"}, {U'「', "“"}, {U'」', "”"}, {U'『', "“"}, {U'』', "”"},
     {U'“', "“"},  {U'”', "”"},  {U'（', "("}, {U'）', ")"}, {U'(', "("},  {U')', ")"},
     {U'《', "("}, {U'》', ")"}, {U'【', "("}, {U'】', ")"}, {U'〈', "“"}, {U'〉', "”"}});

std::optional<std::u32string_view> find(std::span<const KanaSound> table,
                                        std::u32string_view kana) {
  const auto found = std::ranges::find(table, kana, &KanaSound::kana);
  return found == table.end() ? std::nullopt : std::optional(found->sound);
}

// Of a sign and, where there is one, the small sign behind it.
std::u32string sound_of(std::u32string_view mora) {
  const auto whole = mora.size() > 1 ? find(kPairs, mora) : find(kSigns, mora);
  if (whole || mora.size() < 2) {
    return std::u32string(whole.value_or(U""));
  }
  std::u32string sound(find(kSigns, mora.substr(0, 1)).value_or(U""));
  if (sound.empty()) {
    return sound_of(mora.substr(1));
  }
  const bool palatal = sound.size() > 1 && sound.back() == U'i';
  sound.pop_back();
  const auto vowel = palatal ? find(kPalatal, mora.substr(1)) : std::nullopt;
  return sound + std::u32string(vowel.value_or(find(kSigns, mora.substr(1)).value_or(U"")));
}

// ン before what follows it in the word, as misaki writes it.
char32_t nasal_before(std::u32string_view next) {
  const char32_t first = next.empty() ? U' ' : next.front();
  const auto is_one_of = [first](std::u32string_view sounds) {
    return sounds.find(first) != std::u32string_view::npos;
  };
  return is_one_of(U"mpb")     ? U'm'
         : is_one_of(U"kɡ")    ? U'ŋ'
         : is_one_of(U"ɲʨʥ")   ? U'ɲ'
         : is_one_of(U"ntdɾz") ? U'n'
                               : U'ɴ';
}

}  // namespace

std::string kokoro_phonemes(std::string_view katakana) {
  const std::u32string kana = to_code_points(katakana);
  std::vector<std::u32string> sounds;  // a nasal's is itself, until what follows is known
  for (size_t i = 0; i < kana.size();) {
    if (kana[i] == kNasal) {
      sounds.emplace_back(1, kNasal);
      ++i;
      continue;
    }
    const bool pair =
        i + 1 < kana.size() && (kSmall.find(kana[i + 1]) != std::u32string_view::npos ||
                                find(kPairs, std::u32string_view(kana).substr(i, 2)));
    std::u32string sound = sound_of(std::u32string_view(kana).substr(i, pair ? 2 : 1));
    i += pair ? 2 : 1;
    if (!sound.empty()) {
      sounds.push_back(std::move(sound));
    }
  }
  std::u32string phonemes;
  for (size_t i = 0; i < sounds.size(); ++i) {
    if (sounds[i].front() == kNasal) {
      phonemes += nasal_before(i + 1 < sounds.size() ? sounds[i + 1] : std::u32string());
    } else {
      phonemes += sounds[i];
    }
  }
  return to_utf8(phonemes);
}

std::string_view kokoro_mark(char32_t mark) {
  const auto found = std::ranges::find(kMarks, mark, &std::pair<char32_t, std::string_view>::first);
  return found == kMarks.end() ? std::string_view() : found->second;
}

}  // namespace mynah::open_jtalk

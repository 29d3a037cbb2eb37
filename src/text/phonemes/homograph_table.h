// The table of homographs. To add a word, add its rows where the alphabet wants them: the first row
// whose conditions all hold says how the word is read, and where none does its lexicon does.
//
// before, after  words of which one stands directly there, in small letters; "to_a" is two words
//                after each other, "|" a mark, or the end of the text
// near           words of which one stands in the same sentence, at most seven words away;
//                "pencil*" is every word that begins so
// American, British  phonemes in Kokoro's alphabet: Merriam-Webster's Collegiate Dictionary, 11th
//                edition, and the Oxford Advanced Learner's Dictionary have both readings of each
#pragma once

#include <array>
#include <string_view>

namespace mynah {

struct HomographRule {
  std::u32string_view word;
  std::u32string_view american;
  std::u32string_view british;
  std::u32string_view before = {};
  std::u32string_view after = {};
  std::u32string_view near = {};
};

// clang-format off
inline constexpr auto kHomographs = std::to_array<HomographRule>({
    {.word = U"aged", .american = U"ˈAʤɪd", .british = U"ˈAʤɪd",
     .after = U"mother father parent parents man woman men women aunt uncle grandmother grandfather lady gentleman couple "
              U"relative relatives king queen hands people"},
    {.word = U"aged", .american = U"ˈAʤɪd", .british = U"ˈAʤɪd", .before = U"the", .after = U"and are were |"},
    {.word = U"axes", .american = U"ˈæksᵻz", .british = U"ˈaksɪz",
     .near = U"wood* lumber* sharpen* chop* blade* hammer* forest* tree* stone weapon* sword* shield* battle"},
    {.word = U"bass", .american = U"bˈæs", .british = U"bˈas", .before = U"sea striped largemouth smallmouth black"},
    {.word = U"bass", .american = U"bˈæs", .british = U"bˈas",
     .near = U"fish* lake* river* trout pond stream caught catch* grilled angler* anglers salmon perch"},
    {.word = U"bass", .american = U"bˈAs", .british = U"bˈAs"},
    {.word = U"blessed", .american = U"blˈɛsɪd", .british = U"blˈɛsɪd",
     .after = U"virgin sacrament trinity mother lord saint saints are be event assurance relief sleep peace thing"},
    {.word = U"bow", .american = U"bˈO", .british = U"bˈQ",
     .near = U"arrow* quiver* violin* cello* fiddle* rosin* archer* ribbon* tie tied knot hair string strings elm yew"},
    {.word = U"bow", .american = U"bˈW", .british = U"bˈW",
     .near = U"ship* boat* stern deck vessel* hull sail* harbour harbor port starboard anchor* waves yacht* aft prow"},
    {.word = U"bow", .american = U"bˈW", .british = U"bˈW",
     .before = U"a his her their another final last deep low slight stiff polite little courteous formal",
     .near = U"took take takes taking made makes gave audience applause curtain* curts* polite* courteous stiff actor*"},
    {.word = U"bowed", .american = U"bˈOd", .british = U"bˈQd",
     .near = U"shelf shelves weight legs string* instrument* violin* beam* plank*"},
    {.word = U"bowed", .american = U"bˈWd", .british = U"bˈWd"},
    {.word = U"bows", .american = U"bˈOz", .british = U"bˈQz",
     .near = U"arrow* quiver* violin* cello* fiddle* archer* ribbon* hair strung strings"},
    {.word = U"bows", .american = U"bˈWz", .british = U"bˈWz",
     .near = U"ship* boat* stern deck vessel* hull sail* harbour harbor waves yacht* prow"},
    {.word = U"close", .american = U"klˈOz", .british = U"klˈQz",
     .before = U"to_a at_the by_the towards_the toward_the until_the since_the", .after = U"of at in |"},
    {.word = U"content", .american = U"kəntˈɛnt", .british = U"kəntˈɛnt",
     .before = U"am is are was were be been being not quite perfectly fairly mostly very more so feel feels felt seem seems "
               U"seemed 'm 's 're",
     .after = U"with to"},
    {.word = U"deserts", .american = U"dəzˈɜɹts", .british = U"dɪzˈɜːts", .before = U"just"},
    {.word = U"does", .american = U"dˈOz", .british = U"dˈQz",
     .before = U"the two three four five six many several some few female more",
     .near = U"buck bucks fawn* stag stags deer antler* hunter* herd doe"},
    {.word = U"invalid", .american = U"ˈɪnvəlɪd", .british = U"ˈɪnvəlɪd",
     .before = U"an the old poor helpless chronic elderly young my his her bedridden confirmed permanent",
     .after = U"was is and who had has in lay could would needed for |"},
    {.word = U"lead", .american = U"lˈɛd", .british = U"lˈɛd",
     .after = U"poisoning paint pipe pipes pencil pencils shot mine mines acetate oxide crystal glass bullet bullets roof "
              U"roofing acid solder sulfide sulphide ore ores"},
    {.word = U"lead", .american = U"lˈɛd", .british = U"lˈɛd", .before = U"of in with molten white red black pencil",
     .near = U"made pipe* roof* metal* copper zinc silver tin iron gold bullet* ton tons contaminat* paint* poison* water "
             U"pencil* lined covered weighed filled"},
    {.word = U"lead", .american = U"lˈɛd", .british = U"lˈɛd", .before = U"the a and",
     .near = U"pencil* copper zinc tin mercury cadmium poison* molten smelt* arsenic"},
    {.word = U"live", .american = U"lˈIv", .british = U"lˈIv",
     .after = U"music show shows concert concerts broadcast broadcasts audience stream streams wire wires ammunition "
              U"performance performances band bands television tv coverage recording recordings"},
    {.word = U"live", .american = U"lˈIv", .british = U"lˈIv", .before = U"broadcast streamed performed recorded televised"},
    {.word = U"minute", .american = U"mInˈut", .british = U"mInjˈuːt",
     .before = U"so very too extremely incredibly infinitely exceedingly",
     .after = U"that as to and in | for but or quantities amounts particles"},
    {.word = U"minute", .american = U"mInˈut", .british = U"mInjˈuːt",
     .after = U"detail details particle particles quantity quantities amount amounts trace traces difference differences "
              U"fragment fragments inspection examination scrutiny dots specks creatures organisms droplets"},
    {.word = U"moped", .american = U"mˈOpˌɛd", .british = U"mˈQpɛd",
     .before = U"his her my a the their your our this that electric old new red little"},
    {.word = U"number", .american = U"nˈʌməɹ", .british = U"nˈʌmə",
     .before = U"grew grow grows growing got get gets felt feel feels became become becomes even getting",
     .near = U"cold finger fingers hand hands leg legs toe toes lip lips feet foot arm arms face limbs numb"},
    {.word = U"object", .american = U"əbʤˈɛkt", .british = U"əbʤˈɛkt",
     .before = U"i we you they who not n't would will must might could may strongly to", .after = U"to | that if"},
    {.word = U"polish", .american = U"pˈɑlɪʃ", .british = U"pˈɒlɪʃ",
     .before = U"|", .after = U"the your my his her their our it them this these those up off"},
    {.word = U"putting", .american = U"pˈʌTɪŋ", .british = U"pˈʌtɪŋ", .after = U"green greens"},
    {.word = U"putting", .american = U"pˈʌTɪŋ", .british = U"pˈʌtɪŋ", .after = U"| was is and", .near = U"golf* putter* birdie*"},
    {.word = U"resume", .american = U"ɹˈɛzəmˌA", .british = U"ɹˈɛzjʊmˌA",
     .before = U"your my his her their our a the this updated",
     .near = U"letter letters job jobs apply* applicant* employer* hiring recruiter* submit* attach* pdf page pages "
             U"experience interview*"},
    {.word = U"row", .american = U"ɹˈW", .british = U"ɹˈW",
     .before = U"blazing terrible flaming furious awful almighty heated diplomatic political fierce bitter violent domestic"},
    {.word = U"row", .american = U"ɹˈW", .british = U"ɹˈW",
     .before = U"a the this that another big", .after = U"about over erupted"},
    {.word = U"row", .american = U"ɹˈW", .british = U"ɹˈW", .before = U"a another", .after = U"with",
     .near = U"had have has having"},
    {.word = U"rows", .american = U"ɹˈWz", .british = U"ɹˈWz",
     .before = U"blazing terrible flaming furious awful heated diplomatic political fierce bitter violent domestic"},
    {.word = U"sewer", .american = U"sˈOəɹ", .british = U"sˈQə",
     .near = U"sew sews sewing dress dresses curtain* needle* thread tailor* seamstress quilt* stitch* fabric* garment*"},
    {.word = U"slough", .american = U"slˈʌf", .british = U"slˈʌf", .after = U"off"},
    {.word = U"tear", .american = U"tˈɛɹ", .british = U"tˈɛː", .before = U"wear_and"},
    {.word = U"tear", .american = U"tˈɪɹ", .british = U"tˈɪə",
     .before = U"a the small single another one", .near = U"eye eyes cheek* cry* cried wept weep* shed face roll* wip* sad joy"},
    {.word = U"tear", .american = U"tˈɛɹ", .british = U"tˈɛː",
     .before = U"a the small large big long tiny another", .after = U"in"},
    {.word = U"tear", .american = U"tˈɛɹ", .british = U"tˈɛː",
     .before = U"a the small large big long tiny another muscle ligament",
     .near = U"ligament* muscle* tendon* cartilage fabric* cloth* sleeve* shirt* trousers jeans canvas surgery knee*"},
});
// clang-format on

}  // namespace mynah

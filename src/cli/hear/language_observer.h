// LanguageObserver: names the languages of recordings of which only the beginning is decoded.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/placement/placement_answer.h"
#include "engine/last_look.h"
#include "speech/recognizer.h"

namespace mynah::cli {

class LanguageObserver : public RecognizerObserver {
 public:
  // What it is given must outlive it; no placer: the recogniser needs none.
  LanguageObserver(Context& context, const std::vector<std::string>& names,
                   const place::Placer* placer)
      : context_(context), names_(names), placer_(placer), last_look_(placer) {}

  void on_done(size_t job, const Result<Transcript>& result) override;

  // Looks a last time, whatever ended the run; returns the exit code.
  int finish();

 private:
  Context& context_;
  const std::vector<std::string>& names_;
  const place::Placer* placer_;
  engine::LastLook last_look_;
  std::vector<ErrorCode> failures_;
};

}  // namespace mynah::cli

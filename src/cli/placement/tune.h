// `mynah tune`: measures models on this machine's devices and keeps the fastest placement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "engine/model_files.h"
#include "place/placer.h"

namespace mynah::cli {

class TuneCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // Whether its profile can be called as it would be.
  [[nodiscard]] Status check_name(const engine::NamedModel& model) const;
  Status tune(Context& context, place::PlacementState& state,
              const engine::NamedModel& model) const;

  std::vector<std::string> models_;
  std::string device_ = "auto";
  int threads_ = 0;
  std::string types_;
  std::string name_;
  bool use_ = false;
};

}  // namespace mynah::cli

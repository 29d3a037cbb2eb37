// `mynah memory`: what conversations left, shown, searched, forgotten.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "talk/memory/open_memory.h"

namespace mynah::cli {

// Describes --memory-folder, of every verb that has one.
Field& memory_folder_field(Fields& fields, std::string& folder);

class MemoryCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // What the options mean; Usage where they mean nothing.
  [[nodiscard]] Result<talk::MemoryFilter> filter() const;
  Result<int> list(Context& context, const talk::MemoryFilter& filter) const;
  Result<int> search(Context& context, const talk::MemoryFilter& filter) const;
  Result<int> forget(Context& context, const talk::MemoryFilter& filter) const;
  Result<int> export_all(Context& context, const talk::MemoryFilter& filter) const;
  // The memory, where something was ever kept; null: nothing was.
  Result<std::shared_ptr<talk::MemoryStore>> open(Context& context) const;

  std::vector<std::string> words_;  // the action, and what it is about
  talk::MemoryWish wish_;
  std::optional<int64_t> conversation_;
  std::vector<std::string> origins_;
  std::string containing_;
  std::string before_;
  bool facts_ = false;
  bool with_turns_ = false;
  bool all_ = false;
  int64_t most_ = 20;
};

}  // namespace mynah::cli

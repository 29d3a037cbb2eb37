// SQLite's databases and statements, with errors as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace mynah {

// One statement of a database, which must outlive it.
class Statement {
 public:
  // The next parameter's value, from the first on. Errors are told by what follows.
  Statement& bind(std::string_view text);
  Statement& bind(int64_t number);
  Statement& bind(double number);
  Statement& bind(std::span<const std::byte> bytes);
  Statement& bind(std::nullopt_t none);

  // Whether there is another row.
  Result<bool> step();
  // To its end; rows are passed over.
  Status run();

  // Of the present row, columns counted from 0.
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  // Until the next step().
  [[nodiscard]] std::span<const std::byte> bytes(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_number(int column) const;  // a whole one

 private:
  friend class Database;

  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };

  Statement(sqlite3_stmt* statement, sqlite3* database, std::string path);

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  sqlite3* database_;
  std::string path_;
  int bound_ = 0;
  int failed_ = 0;  // SQLite's code of a value that could not be bound
};

class Database {
 public:
  // Makes the file, which its user alone may read, where there is none.
  static Result<Database> open(const std::string& path);

  Result<Statement> prepare(std::string_view sql) const;
  // Several statements, without parameters.
  Status execute(const std::string& sql) const;
  // Settings for what must last and may have to be forgotten: a commit is on the disk when it
  // returns, what is deleted is overwritten, nothing is put beside the database for a while.
  Status keep_safely() const;
  // The first fault that SQLite finds; "": none.
  [[nodiscard]] std::string find_damage() const;
  // All of it or nothing.
  Status in_transaction(const std::function<Status()>& work) const;

  // Rows that the last statement changed.
  [[nodiscard]] int64_t changed() const;
  // The number that SQLite gave the last row that was put in.
  [[nodiscard]] int64_t last_row() const;

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };

  Database(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}

  std::unique_ptr<sqlite3, Closer> database_;
  std::string path_;
};

// Moves a database and SQLite's files beside it to a name of their own, in the same folder. The
// name.
Result<std::string> move_database_aside(const std::string& path);

}  // namespace mynah

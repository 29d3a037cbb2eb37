// The text that a verb is given: words of the command line, a file, a document, standard input as
// it comes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command/fields.h"
#include "cli/command/verb.h"
#include "speech/synthesizer.h"
#include "text/documents/document.h"
#include "text/documents/subtitles.h"

namespace mynah::cli {

struct TextInput {
  std::vector<std::string> words;         // "-" alone: standard input
  std::string file;                       // "-": standard input
  NoteReading notes = NoteReading::Skip;  // of a document

  // `verb` is what is done with it: "say", "read".
  void fields(Fields& fields, const std::string& verb);

  // Usage where there is nothing, or both, or names of files that cannot be meant as words;
  // NotFound where a document is named that is not here. Where standard input is no terminal, it is
  // the text when nothing else is.
  [[nodiscard]] Status check(std::string_view verb, const Context& context) const;

  // The file that holds the text: --file, or one whose name stands in place of the words and ends
  // as texts do (a document, .ssml, .jsonl); "" where the words are the text.
  [[nodiscard]] std::string path() const;

  // The same where it is a document (text/documents/document.h), which is read as a whole; "" where
  // it is none, and for a .txt that holds SSML.
  [[nodiscard]] std::string document_path() const;

  // The document that it is, once its warnings are told; none where it is none. InvalidInput where
  // it has no text.
  [[nodiscard]] Result<std::optional<Document>> read_document(const Context& context) const;

  // Gives the text in pieces, as it comes.
  Status read(const Context& context, const std::function<Status(std::string_view)>& take) const;

  // The same, when it shows what the text is: `begin` is told it once, before the first piece. A
  // text without marks of its own is SSML where it begins so, or by its file's name (.ssml); one
  // that begins as subtitles do is read to its end, and gives what their cues say.
  Status read(const Context& context, TextKind kind, const std::function<Status(TextKind)>& begin,
              const std::function<Status(std::string_view)>& take) const;

  // Whether it can be subtitles, by the name of its file, where it has one.
  [[nodiscard]] bool may_be_subtitles() const;

  // All of it as subtitles. Usage where it is something else.
  [[nodiscard]] Result<Subtitles> read_subtitles(const Context& context) const;

 private:
  [[nodiscard]] Status check_names(std::string_view verb) const;
};

}  // namespace mynah::cli

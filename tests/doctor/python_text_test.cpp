#include "doctor/python/python_text.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/package_name.h"
#include "doctor/python/python_built_with.h"

namespace mynah::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Row {
  std::string path;
  std::string hash;
  std::optional<uint64_t> bytes;

  bool operator==(const Row&) const = default;
};

std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> rows;
  for_each_record(text, [&](const RecordEntry& entry) {
    rows.push_back({std::string(entry.path), std::string(entry.hash), entry.bytes});
  });
  return rows;
}

TEST(PythonText, NamesOfPackagesAreWrittenInOneManner) {
  EXPECT_EQ(normal_name("ONNXRuntime_GPU"), "onnxruntime-gpu");
  EXPECT_EQ(normal_name("zope..interface-_x"), "zope-interface-x");
  EXPECT_EQ(normal_name(""), "");
}

TEST(PythonText, HeadersEndAtTheFirstEmptyLine) {
  const auto fields = read_headers(
      "Metadata-Version: 2.1\r\nName: torch\nREQUIRES-DIST:  numpy>=1 ; extra == \"x\" \n"
      "License: one\n        two\n\n  three\n\nName: not this\n");
  ASSERT_EQ(fields.size(), 4);
  EXPECT_EQ(fields[1].name, "name");
  EXPECT_EQ(fields[1].value, "torch");
  EXPECT_EQ(fields[2].name, "requires-dist");
  EXPECT_EQ(fields[2].value, "numpy>=1 ; extra == \"x\"");
  EXPECT_EQ(fields[3].value, "one\ntwo");
}

TEST(PythonText, WhatIsNoHeaderEndsThem) {
  EXPECT_THAT(read_headers("no colon here\nName: torch\n"), IsEmpty());
  EXPECT_THAT(read_headers(" goes on\n"), IsEmpty());
  EXPECT_THAT(read_headers(""), IsEmpty());
}

TEST(PythonText, RecordIsCommaSeparatedWithQuotes) {
  EXPECT_THAT(rows_of("a/b.py,sha256=x_Y-z,12\r\n\"a,\"\"b\"\".py\",sha256=q,3\nRECORD,,\n"),
              ElementsAre(Row{"a/b.py", "sha256=x_Y-z", 12}, Row{"a,\"b\".py", "sha256=q", 3},
                          Row{"RECORD", "", std::nullopt}));
  EXPECT_THAT(rows_of("alone\na,b,c,d,e\n,no path,1\n\"open quote,1"),
              ElementsAre(Row{"alone", "", std::nullopt}, Row{"a", "b", std::nullopt},
                          Row{"open quote,1", "", std::nullopt}));
  EXPECT_THAT(rows_of("a,b,99999999999999999999999\na,b,-1\n"),
              ElementsAre(Row{"a", "b", std::nullopt}, Row{"a", "b", std::nullopt}));
}

TEST(PythonText, AssignmentsOfTheOutermostLevelAreRead) {
  const auto values = read_assignments(
      "from typing import Optional\n__all__ = ['__version__', 'debug']\n"
      "__version__ = '2.7.1+cu126'\ndebug = False\ncuda: Optional[str] = '12.6'\n"
      "hip: Optional[str] = None\nif True:\n  cuda = '1'\nx == '3'\nword = \"a 'b'\" # why\n"
      "call = f('x')\n__version__ = \"2.7.2\"\nnone = 'None'\n");
  EXPECT_EQ(values.at("__version__"), "2.7.2");
  EXPECT_EQ(values.at("debug"), "False");
  EXPECT_EQ(values.at("cuda"), "12.6");
  EXPECT_EQ(values.at("hip"), std::nullopt);
  EXPECT_EQ(values.at("word"), "a 'b'");
  EXPECT_EQ(values.at("none"), "None");
  EXPECT_EQ(values.size(), 6);
}

TEST(PythonText, LibrariesThatPythonOpensAreFound) {
  EXPECT_THAT(
      first_arguments("from ctypes import CDLL\n_a = CDLL(\"liba.so.1\", mode=RTLD_GLOBAL)\n"
                      "# CDLL(\"not.so\")\nctypes.CDLL('libb.so')\nCDLL(path)\nmyCDLL(\"c.so\")\n"
                      "CDLL(\"open\nCDLL(",
                      "CDLL"),
      ElementsAre("liba.so.1", "libb.so"));
}

TEST(PythonText, ConfigurationsOfVirtualEnvironmentsAreRead) {
  EXPECT_EQ(read_venv_config("home = /usr/bin\ninclude-system-site-packages = true\n"
                             "version = 3.11.2\n"),
            (VenvConfig{"/usr/bin", "3.11", true}));
  EXPECT_EQ(read_venv_config("home=C:\\Python\r\nimplementation = CPython\r\n"
                             "version_info = 3.12.1.final.0\r\nuv = 0.5\r\n"),
            (VenvConfig{"C:\\Python", "3.12", false}));
  EXPECT_EQ(read_venv_config("nothing"), VenvConfig());
}

TEST(PythonText, RequirementsOfEggsBecomeThoseOfWheels) {
  EXPECT_THAT(read_egg_requirements("numpy>=1\n\n[gpu]\ntorch\n[:python_version<\"3\"]\nsix\n"
                                    "[dev:sys_platform == 'linux']\ny\n"),
              ElementsAre("numpy>=1", "torch ; extra == \"gpu\"", "six ; python_version<\"3\"",
                          "y ; (sys_platform == 'linux') and extra == \"dev\""));
}

TEST(PythonText, PathFilesNameFoldersAndNoCode) {
  EXPECT_THAT(read_path_file("# why\nimport os; os.system('x')\n../other\n/abs\n\n"),
              ElementsAre("../other", "/abs"));
}

TEST(PythonText, EditableInstallationsNameTheirFolders) {
  EXPECT_THAT(
      read_editable_finder("import sys\nMAPPING: dict[str, str] = {'a': '/s/a', \"b\": "
                           "'/t/b', 'c': '/s/c.py', 'a.b': '/s/x'}\nOTHER = {'d': '/s/d'}\n"),
      ElementsAre("/s", "/t"));
  EXPECT_THAT(read_editable_finder("MAPPING = {}"), IsEmpty());
  EXPECT_THAT(read_editable_finder("\nMAPPING = {'a"), IsEmpty());
  EXPECT_THAT(read_egg_link("/src/mine\n."), ElementsAre("/src/mine"));
  EXPECT_THAT(read_egg_link(""), IsEmpty());
}

TEST(PythonText, VersionsOfPythonAreCutToTwoNumbers) {
  EXPECT_EQ(short_python_version("3.11.7"), "3.11");
  EXPECT_EQ(short_python_version("3.13"), "3.13");
  for (const char* const text : {"", "3", "3.", ".11", "x.11", "3.x", "333333333.1"}) {
    EXPECT_EQ(short_python_version(text), "") << text;
  }
}

TEST(PythonText, VersionsStandInNamesOfLibraries) {
  EXPECT_EQ(version_of_library("libcudnn_ops.so.9.10.2"), "9.10.2");
  EXPECT_EQ(version_of_library("cudnn64_9.dll"), "9");
  EXPECT_EQ(version_of_library("libcudnn.so"), "");
  EXPECT_EQ(version_of_library(".dll"), "");
  EXPECT_EQ(version_of_library(""), "");
}

}  // namespace
}  // namespace mynah::doctor

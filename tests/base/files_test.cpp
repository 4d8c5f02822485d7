#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace fairlead {
namespace {

class Files : public testing::Test {
protected:
    Files() {
        std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-files-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~Files() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

TEST_F(Files, WritesReplaceTheWholeContentAndKeepTheMode) {
    const auto file = folder_ / "secret";
    ASSERT_TRUE(write_file(file, "first, a longer text", 0600));
    ASSERT_TRUE(write_file(file, "second", 0600));
    EXPECT_EQ(read_file(file).value(), "second");
    struct stat info {};
    ASSERT_EQ(::stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no temporary file is left";
}

TEST_F(Files, ErrorsNameThePath) {
    const auto missing = read_file(folder_ / "nothing");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::not_found);
    EXPECT_NE(missing.error().message.find("nothing"), std::string::npos);
    EXPECT_FALSE(write_file(folder_ / "no" / "such" / "folder", "x"));
}

}  // namespace
}  // namespace fairlead

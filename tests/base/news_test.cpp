// News of groups, taken by several readers.
#include "base/news.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using Texts = std::vector<std::string>;

TEST(News, EachReaderTakesItsOwn) {
    std::set<std::string> news{"default/gw", "other", "routers|blue", "routers|green", "routersmore|x"};
    EXPECT_EQ(take_news_of(news, "routers"), (Texts{"routers|blue", "routers|green"}));
    EXPECT_EQ(take_news_of(news, "routers"), Texts{});
    EXPECT_EQ(take_news_of(news, ""), (Texts{"default/gw", "other"}));
    EXPECT_EQ(take_news_of(news, "routersmore"), Texts{"routersmore|x"});
    EXPECT_TRUE(news.empty());
}

}  // namespace
}  // namespace fairlead

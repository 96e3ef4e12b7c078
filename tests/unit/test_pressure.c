#include "test.h"

#include "pressure.h"

TEST(pressure__reads_the_total_of_some)
{
	EXPECT(pressure_parse("some avg10=1.00 avg60=2.00 avg300=3.00 "
			      "total=2500000\nfull avg10=0.00 avg60=0.00 "
			      "avg300=0.00 total=9\n") == 2.5);
	EXPECT(pressure_parse("some avg10=0.00 total=0\n") == 0);
	EXPECT(pressure_parse("full avg10=0.00 total=7\n") == -1);
	EXPECT(pressure_parse("some total=x\n") == -1);
	EXPECT(pressure_parse("") == -1);
}

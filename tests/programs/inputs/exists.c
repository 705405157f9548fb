/*
 * open(O_CREAT) of a file that it makes and of one that exists by then: only the first can find no space. Says by its exit
 * status which of the calls failed, 10 and 11; 12: neither. The file is made in the current folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	int status = 12;

	unlink("there");
	if (open("there", O_RDWR | O_CREAT, 0644) < 0)
		status = errno == ENOSPC ? 10 : 2;
	else if (open("there", O_RDWR | O_CREAT, 0644) < 0)
		status = errno == ENOSPC ? 11 : 2;
	unlink("there");
	return status;
}
